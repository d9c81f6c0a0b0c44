#include "workload-gen/layout/gpu_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/spelling.h"
#include "workload-gen/job/layout_rules.h"

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
    // check_fp8_block_scaling_support of Transformer Engine.
    const bool too_old =
        type == DataType::kFp8Block && gpu.compute_capability > 0 && gpu.compute_capability < 90;
    if (gpu.RateOf(type) > FlopRate() && !too_old) continue;
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

// get_attention_backend of Transformer Engine.
Status CheckAttentionKernels(const TrainingJob& job, const Topology& topology) {
  const TrainingRules& training = job.training;
  for (const GpuSpec& gpu : topology.gpus) {
    if (gpu.compute_capability == 0) continue;
    if (gpu.compute_capability < 90 && training.host.deterministic &&
        training.kernels.attention == AttentionKernels::kCudnn) {
      return job.ErrorAt("training.attention_kernels",
                         fmt::format("'cudnn' with deterministic: true needs a GPU of Hopper or "
                                     "later, and '{}' is none; write flash or unfused",
                                     gpu.name));
    }
    if (gpu.compute_capability < 100 && training.precision.fp8_attention &&
        job.model.attention.sinks) {
      return job.ErrorAt("training.fp8_attention",
                         fmt::format("'fp8_attention' with model.attention_sinks needs a GPU of "
                                     "Blackwell, and '{}' is none; write false",
                                     gpu.name));
    }
  }
  return OkStatus();
}

Status CheckDispatchSms(const TrainingJob& job, const Topology& topology) {
  const int wanted = job.training.moe.dispatch_sms;
  for (const GpuSpec& gpu : topology.gpus) {
    if (gpu.sms == 0 || wanted <= gpu.sms) continue;
    return job.ErrorAt(
        "training.moe_dispatch_sms",
        fmt::format("moe_dispatch_sms {} is more than the {} SMs of the GPU '{}'; write at most {}",
                    wanted, gpu.sms, gpu.name, gpu.sms));
  }
  return OkStatus();
}

}  // namespace

Status CheckTokenKernels(const TrainingJob& job, const Topology& topology,
                         const TokenCostTable& costs) {
  const ExpertRules& moe = job.training.moe;
  const bool alone = job.parallel.expert * ExpertTensorOf(job.parallel) == 1;
  if (job.model.moe.experts == 0 || !moe.without_nccl() || alone) return OkStatus();
  const BufferKind kind = moe.exchange();
  const char* library = moe.dispatcher == MoeDispatcher::kFlex ? "DeepEP" : "HybridEP";
  for (const HostKind& host : topology.host_kinds) {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(host.gpu)];
    if (FindTokenCosts(costs, kind, gpu) != nullptr) continue;
    // What Megatron-Bridge accepts (flex_dispatcher_backend.py), by major compute capability.
    const int major = gpu.compute_capability / 10;
    const std::string why = major < 8 || major > 10
                                ? fmt::format(
                                      "the kernels of {} run on GPUs of compute capability "
                                      "8, 9 and 10, and '{}' has {}",
                                      library, gpu.name, major)
                                : NoTokenCosts(costs, kind, gpu).message();
    return job.ErrorAt("training.moe_dispatcher", why + "; write 'moe_dispatcher: alltoall'");
  }
  return OkStatus();
}

Status CheckGpuFormat(const TrainingJob& job, const Topology& topology) {
  RETURN_IF_ERROR(CheckSparseKernels(job, topology));
  RETURN_IF_ERROR(CheckAttentionKernels(job, topology));
  RETURN_IF_ERROR(CheckDispatchSms(job, topology));
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
