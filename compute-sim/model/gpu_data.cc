#include "compute-sim/model/gpu_data.h"

#include <algorithm>

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
  if (kernel.kind == KernelKind::kChunkProduct) {
    if (gpu.chunk_products.tensor == 0) return std::nullopt;
    return PredictChunkProduct(kernel, *set, parameters.memory, gpu.chunk_products);
  }
  return PredictGemm(kernel, gpu.shape(), parameters, *set, clocks);
}

// The time of the quantization in a row with `contains: quantise`.
double QuantiseUs(const GpuData& gpu, const Kernel& kernel) {
  const MemoryParameters& memory = gpu.parameters.memory;
  if (kernel.kind != KernelKind::kGemm || !IsQuantized(kernel.type)) return 0;
  const GemmParameters* set = gpu.parameters.GemmFor(kernel.type);
  const bool own = set != nullptr && set->quantise.bytes > 0;
  const QuantiseStage& quantise = own ? set->quantise : memory.quantise;
  const Kernel stage = MemoryKernel(KernelKind::kQuantise, kernel.type, kernel.dims[0],
                                    kernel.dims[2], quantise.bytes);
  const Prediction moved = PredictMemoryKernel(stage, gpu.shape(), memory);
  return moved.us - moved.fixed_us + quantise.launch.us();
}

}  // namespace

Time TimeOfUs(double us) {
  return us < kLongestKernel.us() ? Time::FromUs(us) : kLongestKernel;  // NaN too
}

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

double RowDistance(const GpuData& gpu, const Kernel& kernel) {
  double distance = 0;
  for (const ProfilePtr& profile : gpu.profiles) {
    const std::optional<NearRow> near = FindNearest(*profile, kernel);
    if (!near.has_value()) continue;
    distance = distance == 0 ? near->distance : std::min(distance, near->distance);
  }
  return distance;
}

}  // namespace drydock
