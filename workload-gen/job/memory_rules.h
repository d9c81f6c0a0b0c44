// Parts of the memory of a rank that no program states: the section `memory` of model.yaml
// (job/key_table.cc gives the sources of the defaults). And which activations wait on the host.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_

#include <array>
#include <cstdint>

#include "core/base/units.h"

namespace drydock {

struct MemoryRules {
  Bytes cuda_context{600000000};
  Bytes nccl_communicator{154140672};  // per communicator of a rank
  Bytes cublas_workspace{-1};          // of PyTorch, for each of two handles; below 0: by the GPU
  Bytes te_workspace{-1};              // of Transformer Engine; below 0: by the GPU
  double fragmentation = 0;    // share of the rest that the allocator holds and cannot give out
  Bytes cuda_graph_launch{0};  // of each launch that a CUDA graph holds
};

// The modules of a layer whose saved tensors wait on the host between forward and backward
// (training.offload_modules; --fine-grained-activation-offloading of Megatron-Core), in the order
// in which a layer runs them forward.
enum class OffloadModule : uint8_t {
  kAttentionNorm,
  kQkv,
  kCoreAttention,
  kProj,
  kMlpNorm,
  kExpertFc1,
  kExpertActivation,
  kFusedMlp
};
inline constexpr int kOffloadModuleCount = 8;

struct OffloadModules {
  bool attention_norm = false;
  bool qkv = false;
  bool core_attention = false;
  bool proj = false;
  bool mlp_norm = false;
  bool expert_fc1 = false;
  bool expert_activation = false;
  bool fused_mlp = false;
  bool operator==(const OffloadModules&) const = default;
};

struct OffloadModuleName {
  OffloadModule module;
  const char* name;  // "core_attn", as Megatron-Core has it
  bool OffloadModules::*member;
};
// One for each module, in the order of OffloadModule.
inline constexpr std::array<OffloadModuleName, kOffloadModuleCount> kOffloadModuleNames = {
    {{OffloadModule::kAttentionNorm, "attn_norm", &OffloadModules::attention_norm},
     {OffloadModule::kQkv, "qkv_linear", &OffloadModules::qkv},
     {OffloadModule::kCoreAttention, "core_attn", &OffloadModules::core_attention},
     {OffloadModule::kProj, "attn_proj", &OffloadModules::proj},
     {OffloadModule::kMlpNorm, "mlp_norm", &OffloadModules::mlp_norm},
     {OffloadModule::kExpertFc1, "expert_fc1", &OffloadModules::expert_fc1},
     {OffloadModule::kExpertActivation, "moe_act", &OffloadModules::expert_activation},
     {OffloadModule::kFusedMlp, "fused_group_mlp", &OffloadModules::fused_mlp}}};

struct ModuleOffloadRules {
  OffloadModules modules;
  int64_t min_elements = 1 << 20;  // a smaller tensor stays

  bool any() const { return modules != OffloadModules(); }
  bool Has(OffloadModule module) const {
    return modules.*kOffloadModuleNames[static_cast<size_t>(module)].member;
  }
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
