#include "compute-sim/model/roofline_model.h"

#include <fmt/format.h>

#include "compute-sim/model/gpu_data.h"

namespace drydock {
namespace {

double ExpectedError(const GpuData& gpu, const Kernel& kernel) {
  if (HasAssumedRate(kernel.kind)) return gpu.SharesOf(kernel.kind).error;
  const KernelParameters& parameters = gpu.parameters;
  FitErrors errors = parameters.memory.error;
  if (IsAttention(kernel.kind))
    errors = parameters.AttentionFor(kernel.type, gpu.attention_library)->error;
  else if (IsGemm(kernel.kind))
    errors = parameters.GemmFor(kernel.type)->error;
  return IsLarge(kernel) ? errors.large : errors.small;
}

class RooflineModel : public ComputeModel {
 public:
  explicit RooflineModel(const GpuData* gpu) : gpu_(gpu) {}

  std::optional<KernelTime> Predict(const Kernel& kernel) const override {
    const std::optional<Prediction> prediction = PredictCalibrated(*gpu_, kernel);
    if (!prediction.has_value()) return std::nullopt;
    KernelTime time;
    time.time = TimeOfUs(prediction->us);
    time.bound = BoundOf(*prediction);
    time.detail = prediction->detail;
    time.expected_error = ExpectedError(*gpu_, kernel);
    return time;
  }

  std::string WhyNot(const Kernel& kernel) const override {
    if (!gpu_->calibrated) return fmt::format("{} has no 'kernels:' section", gpu_->spec.file_name);
    return fmt::format("{} has no {} parameters for {}", gpu_->spec.file_name,
                       InfoOf(kernel.kind).name, ToString(kernel.type));
  }

 private:
  const GpuData* gpu_;
};

}  // namespace

std::unique_ptr<ComputeModel> MakeRooflineModel(const ModelContext& context) {
  return std::make_unique<RooflineModel>(context.gpu);
}

}  // namespace drydock
