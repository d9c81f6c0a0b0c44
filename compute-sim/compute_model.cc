#include "compute-sim/compute_model.h"

#include <fmt/format.h>

#include <algorithm>

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

Result<const ComputeModelChoice*> FindComputeModel(const std::string& name) {
  for (const ComputeModelChoice& choice : ComputeModelChoices()) {
    if (choice.name == name) return &choice;
  }
  return Error(fmt::format("unknown compute model '{}'{}; valid are {}", name,
                           DidYouMean(name, ComputeModelNames()), Join(ComputeModelNames())));
}

Time TimeOfUs(double us) {
  return us < kLongestKernel.us() ? Time::FromUs(us) : kLongestKernel;  // or no number at all
}

Result<ModelStack> ModelStack::Make(const ModelContext& context,
                                    const std::vector<std::string>& order) {
  ModelStack stack;
  stack.gpu_ = context.gpu;
  for (const std::string& name : order) {
    ASSIGN_OR_RETURN(const ComputeModelChoice* choice, FindComputeModel(name));
    stack.entries_.push_back({choice, choice->make(context)});
  }
  return stack;
}

Result<KernelTime> ModelStack::Predict(const Kernel& kernel) const {
  for (const Entry& entry : entries_) {
    std::optional<KernelTime> time = entry.model->Predict(kernel);
    if (!time.has_value()) continue;
    if (time->time >= kLongestKernel) {
      return Error(fmt::format("{} {} would take an hour or more on the GPU '{}'",
                               InfoOf(kernel.kind).name, ShapeString(kernel), gpu_->spec.name));
    }
    time->name = InfoOf(kernel.kind).name;
    time->shape = ShapeString(kernel);
    time->source = entry.choice->source;
    if (time->row_distance == 0) time->row_distance = RowDistance(*gpu_, kernel);
    return *std::move(time);
  }
  std::string reasons;
  for (const Entry& entry : entries_) {
    reasons += fmt::format("\n  {}: {}", entry.choice->name, entry.model->WhyNot(kernel));
  }
  return Error(fmt::format("there is no time for {} {} on the GPU '{}':{}",
                           InfoOf(kernel.kind).name, ShapeString(kernel), gpu_->spec.name,
                           reasons));
}

}  // namespace drydock
