// `model`: the closed forms of roofline.h with the GPU's own parameters.
#include <fmt/format.h>

#include "compute-sim/model/compute_model.h"

namespace drydock {
namespace {

using Clocks = KernelParameters::Clocks;

std::optional<Prediction> PredictAt(Clocks clocks, const GpuData& gpu, const Kernel& kernel) {
  if (!gpu.calibrated) return std::nullopt;
  const KernelParameters& parameters = gpu.parameters;
  if (IsMemoryKernel(kernel.kind)) {
    return PredictMemoryKernel(kernel, gpu.shape(), parameters.memory);
  }
  if (IsAttention(kernel.kind)) {
    const AttentionParameters* library =
        parameters.AttentionFor(kernel.type, gpu.attention_library);
    if (library == nullptr) return std::nullopt;
    return PredictAttention(kernel, gpu.shape(), parameters.memory.hbm, *library);
  }
  const GemmParameters* set = parameters.GemmFor(kernel.type);
  if (set == nullptr) return std::nullopt;
  return PredictGemm(kernel, gpu.shape(), parameters, *set, clocks);
}

// What rows with `contains: quantise` hold beside the product.
double QuantiseUs(const GpuData& gpu, const Kernel& kernel) {
  const MemoryParameters& memory = gpu.parameters.memory;
  if (kernel.kind != KernelKind::kGemm || SizeOf(kernel.type) != Bytes(1)) return 0;
  const Kernel stage = MemoryKernel(KernelKind::kQuantise, kernel.type, kernel.dims[0],
                                    kernel.dims[2], memory.quantise.bytes);
  const Prediction moved = PredictMemoryKernel(stage, gpu.shape(), memory);
  return moved.us - moved.fixed_us + memory.quantise.launch.us();
}

double ExpectedError(const KernelParameters& parameters, const std::string& library,
                     const Kernel& kernel) {
  FitErrors errors = parameters.memory.error;
  if (IsAttention(kernel.kind))
    errors = parameters.AttentionFor(kernel.type, library)->error;
  else if (!IsMemoryKernel(kernel.kind))
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
    time.bound = BoundName(*prediction);
    time.detail = prediction->detail;
    time.expected_error = ExpectedError(gpu_->parameters, gpu_->attention_library, kernel);
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

std::optional<Prediction> PredictCalibrated(const GpuData& gpu, const Kernel& kernel) {
  return PredictAt(gpu.parameters.clocks, gpu, kernel);
}

std::optional<Prediction> PredictAsProfiled(const GpuData& gpu, const Profile& profile,
                                            const Kernel& kernel) {
  const Clocks clocks = profile.burst ? Clocks::kBurst : gpu.parameters.clocks;
  std::optional<Prediction> prediction = PredictAt(clocks, gpu, kernel);
  if (prediction.has_value() && profile.quantised) prediction->us += QuantiseUs(gpu, kernel);
  return prediction;
}

double RowUs(const GpuData& gpu, const Profile& profile, const RowRef& row, const Kernel& kernel) {
  const std::optional<Prediction> here = PredictCalibrated(gpu, kernel);
  if (!(profile.burst || profile.quantised) || !here.has_value()) return row.time().us();
  return row.time().us() * here->us / PredictAsProfiled(gpu, profile, kernel)->us;
}

std::unique_ptr<ComputeModel> MakeRooflineModel(const ModelContext& context) {
  return std::make_unique<RooflineModel>(context.gpu);
}

}  // namespace drydock
