// `model`: the closed forms of roofline.h with the GPU's own parameters.
#include <fmt/format.h>

#include "compute-sim/compute_model.h"

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
  return PredictAt(profile.burst ? Clocks::kBurst : gpu.parameters.clocks, gpu, kernel);
}

double RowUs(const GpuData& gpu, const Profile& profile, const RowRef& row, const Kernel& kernel) {
  const std::optional<Prediction> here = PredictCalibrated(gpu, kernel);
  if (!profile.burst || !here.has_value()) return row.time().us();
  return row.time().us() * here->us / PredictAsProfiled(gpu, profile, kernel)->us;
}

std::unique_ptr<ComputeModel> MakeRooflineModel(const ModelContext& context) {
  return std::make_unique<RooflineModel>(context.gpu);
}

}  // namespace drydock
