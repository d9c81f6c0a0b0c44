#include "compute-sim/model_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/model/profile_model.h"
#include "compute-sim/model/roofline_model.h"
#include "compute-sim/model/scaled_model.h"
#include "core/base/spelling.h"

namespace drydock {

const std::vector<ComputeModelChoice>& ComputeModelChoices() {
  static const std::vector<ComputeModelChoice> choices = {
      {"profile", "measured rows, and between them", TimeSource::kProfile, MakeProfileModel},
      {"model", "the GPU's own calibrated kernel models", TimeSource::kModel, MakeRooflineModel},
      {"scaled", "the reference GPU's time, by the ratio of the specifications",
       TimeSource::kScaled, MakeScaledModel},
  };
  return choices;
}

std::vector<std::string> ComputeModelNames() {
  std::vector<std::string> names;
  for (const ComputeModelChoice& choice : ComputeModelChoices()) names.push_back(choice.name);
  return names;
}

ComputeModelOrder AllComputeModels() {
  ComputeModelOrder order;
  for (const ComputeModelChoice& choice : ComputeModelChoices()) order.push_back(&choice);
  return order;
}

Result<ComputeModelOrder> FindComputeModels(const std::vector<std::string>& names) {
  const std::vector<ComputeModelChoice>& choices = ComputeModelChoices();
  ComputeModelOrder order;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(choices.begin(), choices.end(),
                     [&](const ComputeModelChoice& choice) { return choice.name == name; });
    if (found == choices.end()) {
      return Error(fmt::format("unknown compute model '{}'{}; valid are {}", name,
                               DidYouMean(name, ComputeModelNames()), Join(ComputeModelNames())));
    }
    order.push_back(&*found);
  }
  return order;
}

}  // namespace drydock
