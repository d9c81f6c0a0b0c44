#include "compute-sim/model/gpu_data.h"

#include <algorithm>

namespace drydock {
namespace {

using Clocks = KernelParameters::Clocks;

std::optional<Prediction> PredictAt(Clocks clocks, const KernelParameters& parameters,
                                    const GpuData& gpu, const Kernel& kernel) {
  if (!gpu.calibrated) return std::nullopt;
  if (IsMemoryKernel(kernel.kind)) {
    return PredictMemoryKernel(kernel, gpu.shape(), parameters.memory);
  }
  if (IsAttention(kernel.kind)) {
    const AttentionParameters* library =
        parameters.AttentionFor(kernel.type, gpu.attention_library);
    if (library == nullptr) return std::nullopt;
    return PredictAttention(kernel, gpu.shape(), parameters.memory.hbm, *library, clocks);
  }
  const GemmParameters* set = parameters.GemmFor(kernel.type);
  if (set == nullptr) return std::nullopt;
  if (HasAssumedRate(kernel.kind)) {
    const AssumedShares& shares = gpu.SharesOf(kernel.kind);
    if (shares.tensor == 0) return std::nullopt;
    const bool chunks = kernel.kind == KernelKind::kChunkProduct;
    return (chunks ? PredictChunkProduct : PredictSparseProduct)(kernel, *set, parameters.memory,
                                                                 shares);
  }
  return PredictGemm(kernel, gpu.shape(), parameters, *set, clocks);
}

// The time of the quantization in a row with `contains: quantise`.
double QuantizeUs(const GpuData& gpu, const Kernel& kernel) {
  const MemoryParameters& memory = gpu.parameters.memory;
  if (kernel.kind != KernelKind::kGemm || !IsQuantized(kernel.type)) return 0;
  const GemmParameters* set = gpu.parameters.GemmFor(kernel.type);
  const bool own = set != nullptr && set->quantize.bytes > 0;
  const QuantizeStage& quantize = own ? set->quantize : memory.quantize;
  const Kernel stage = MemoryKernel(KernelKind::kQuantize, kernel.type, kernel.dims[0],
                                    kernel.dims[2], quantize.bytes);
  const Prediction moved = PredictMemoryKernel(stage, gpu.shape(), memory);
  return moved.us - moved.fixed_us + quantize.launch.us();
}

}  // namespace

Time TimeOfUs(double us) {
  return us < kLongestKernel.us() ? Time::FromUs(us) : kLongestKernel;  // NaN too
}

std::optional<Prediction> PredictCalibrated(const GpuData& gpu, const Kernel& kernel) {
  return PredictAt(gpu.parameters.clocks, gpu.parameters, gpu, kernel);
}

std::optional<Prediction> PredictAsProfiled(const GpuData& gpu, const Profile& profile,
                                            const Kernel& kernel) {
  const Clocks clocks = profile.clocks == Clocks::kBurst ? Clocks::kBurst : gpu.parameters.clocks;
  const KernelParameters& parameters = gpu.unlimited ? *gpu.unlimited : gpu.parameters;
  std::optional<Prediction> prediction = PredictAt(clocks, parameters, gpu, kernel);
  if (prediction.has_value() && profile.quantized) prediction->us += QuantizeUs(gpu, kernel);
  return prediction;
}

double RowUs(const GpuData& gpu, const Profile& profile, const RowRef& row, const Kernel& kernel) {
  const std::optional<Prediction> here = PredictCalibrated(gpu, kernel);
  const bool as_in_a_run =
      profile.clocks == Clocks::kSustained && !profile.quantized && !gpu.limits.any();
  if (as_in_a_run || !here.has_value()) return row.time().us();
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
