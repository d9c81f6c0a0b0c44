#include "compute-sim/model/model_stack.h"

#include <fmt/format.h>

#include "compute-sim/model/gpu_data.h"

namespace drydock {
namespace {

// The factor by which promoted sums or scales of rows lengthen a GEMM, by the calibrated model of
// the GPU or of its reference. Rows are measured without both (docs/explanation/compute.md).
double EffortOf(const ModelContext& context, const Kernel& kernel, const Kernel& plain) {
  for (const GpuData* gpu : {context.gpu, context.reference}) {
    if (gpu == nullptr || !gpu->calibrated) continue;
    const std::optional<Prediction> with = PredictCalibrated(*gpu, kernel);
    const std::optional<Prediction> without = PredictCalibrated(*gpu, plain);
    return with.has_value() && without.has_value() ? with->us / without->us : 1;
  }
  return 1;
}

}  // namespace

ModelStack::ModelStack(const ModelContext& context, const ComputeModelOrder& order)
    : context_(context) {
  for (const ComputeModelChoice* choice : order) {
    entries_.push_back({choice, choice->make(context)});
  }
}

Result<KernelTime> ModelStack::Predict(const Kernel& kernel) const {
  Kernel plain = kernel;
  plain.promoted = plain.row_scaled = false;
  for (const Entry& entry : entries_) {
    std::optional<KernelTime> time = entry.model->Predict(plain);
    if (!time.has_value()) continue;
    if (kernel.promoted || kernel.row_scaled) {
      time->time = TimeOfUs(time->time.us() * EffortOf(context_, kernel, plain));
    }
    if (time->time >= kLongestKernel) {
      return Error(fmt::format("{} {} would take an hour or more on the GPU '{}'",
                               InfoOf(kernel.kind).name, ShapeString(kernel),
                               context_.gpu->spec.name));
    }
    time->name = InfoOf(kernel.kind).name;
    time->shape = ShapeString(kernel);
    time->flops = kernel.flops;
    time->bytes = kernel.bytes;
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
