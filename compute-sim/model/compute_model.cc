#include "compute-sim/model/compute_model.h"

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

namespace {

// How much longer a product takes whose sums are promoted, by the calibrated model of the GPU or of
// its reference: what is measured are products without (docs/explanation/compute.md).
double PromotionOf(const ModelContext& context, const Kernel& kernel, const Kernel& plain) {
  for (const GpuData* gpu : {context.gpu, context.reference}) {
    if (gpu == nullptr || !gpu->calibrated) continue;
    const std::optional<Prediction> with = PredictCalibrated(*gpu, kernel);
    const std::optional<Prediction> without = PredictCalibrated(*gpu, plain);
    return with.has_value() && without.has_value() ? with->us / without->us : 1;
  }
  return 1;
}

}  // namespace

Result<ModelStack> ModelStack::Make(const ModelContext& context,
                                    const std::vector<std::string>& order) {
  ModelStack stack;
  stack.context_ = context;
  for (const std::string& name : order) {
    ASSIGN_OR_RETURN(const ComputeModelChoice* choice, FindComputeModel(name));
    stack.entries_.push_back({choice, choice->make(context)});
  }
  return stack;
}

Result<KernelTime> ModelStack::Predict(const Kernel& kernel) const {
  Kernel plain = kernel;
  plain.promoted = false;
  for (const Entry& entry : entries_) {
    std::optional<KernelTime> time = entry.model->Predict(plain);
    if (!time.has_value()) continue;
    if (kernel.promoted) {
      time->time = TimeOfUs(time->time.us() * PromotionOf(context_, kernel, plain));
    }
    if (time->time >= kLongestKernel) {
      return Error(fmt::format("{} {} would take an hour or more on the GPU '{}'",
                               InfoOf(kernel.kind).name, ShapeString(kernel),
                               context_.gpu->spec.name));
    }
    time->name = InfoOf(kernel.kind).name;
    time->shape = ShapeString(kernel);
    time->source = entry.choice->source;
    if (time->row_distance == 0) time->row_distance = RowDistance(*context_.gpu, plain);
    return *std::move(time);
  }
  std::string reasons;
  for (const Entry& entry : entries_) {
    reasons += fmt::format("\n  {}: {}", entry.choice->name, entry.model->WhyNot(kernel));
  }
  return Error(fmt::format("there is no time for {} {} on the GPU '{}':{}",
                           InfoOf(kernel.kind).name, ShapeString(kernel), context_.gpu->spec.name,
                           reasons));
}

}  // namespace drydock
