#include "workload-gen/layout/gpu_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/spelling.h"

namespace drydock {
namespace {

std::string TypesOf(const GpuSpec& gpu) {
  std::vector<std::string> names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    if (gpu.dense_rate[i] > FlopRate()) names.push_back(DataTypeNames()[static_cast<size_t>(i)]);
  }
  return Join(names);
}

Status CheckType(DataType type, const char* key, const TrainingJob& job, const Topology& topology) {
  for (const GpuSpec& gpu : topology.gpus) {
    if (gpu.RateOf(type) > FlopRate()) continue;
    return job.ErrorAt(key, fmt::format("the GPU '{}' has no products in {}; it has {}", gpu.name,
                                        ToString(type), TypesOf(gpu)));
  }
  return OkStatus();
}

// FlashMLA's kernels begin with Hopper, and take fewer numbers of heads on Blackwell
// (_flash_mla_head_padding of Megatron-LM's dsa_cudnn_kernels.py).
Status CheckSparseKernels(const TrainingJob& job, const Topology& topology) {
  if (job.training.kernels.sparse_attention != SparseKernels::kCudnn) return OkStatus();
  const char* key = "training.sparse_attention_kernels";
  const int64_t heads = job.model.attention.heads / std::max(1, job.parallel.tensor);
  for (const GpuSpec& gpu : topology.gpus) {
    if (gpu.compute_capability == 0) continue;
    if (gpu.compute_capability < 90) {
      return job.ErrorAt(key, fmt::format("'cudnn' needs a GPU of Hopper or later, and '{}' is "
                                          "none; give tilelang or unfused",
                                          gpu.name));
    }
    if (gpu.compute_capability >= 100 && heads > 64 && heads % 128 != 0) {
      return job.ErrorAt(key, fmt::format("'cudnn' on the GPU '{}' needs heads of a tensor rank "
                                          "that are a divisor of 64 or a multiple of 128, not {}; "
                                          "give unfused",
                                          gpu.name, heads));
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckGpuFormat(const TrainingJob& job, const Topology& topology) {
  RETURN_IF_ERROR(CheckSparseKernels(job, topology));
  const PrecisionRules& precision = job.training.precision;
  if (precision.quantized()) {
    const bool recipe = precision.fp8 && !precision.delayed_scaling();
    RETURN_IF_ERROR(CheckType(precision.products(),
                              recipe ? "training.fp8_recipe" : "training.precision", job,
                              topology));
  }
  // Attention, and layers whose linear layers are not quantized.
  return CheckType(precision.type, "training.precision", job, topology);
}

}  // namespace drydock
