// A training run as model.yaml states it (docs/reference/model-file.md): the model's shape, how it
// is trained, how it is spread over ranks, what overlaps. Nothing here depends on a cluster.
//
// Plain data with the places its values came from, so that what is found wrong later (a layout
// that does not fit the cluster) is still reported at its line. Immutable once read.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_TRAINING_JOB_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_TRAINING_JOB_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/model/gpu.h"
#include "core/model/workload.h"
#include "workload-gen/job/memory_rules.h"
#include "workload-gen/job/model_shape.h"
#include "workload-gen/job/sharding_rules.h"

namespace drydock {

// Parts of a row-parallel layer's product between which Transformer Engine reduces and scatters:
// num_splits in its pytorch/module/base.py.
inline constexpr int kScatterParts = 4;

enum class FrameworkKind : uint8_t { kMegatron, kDeepSpeed, kFsdp };
const std::vector<std::string>& FrameworkNames();  // as training.framework has them
const std::string& FrameworkName(FrameworkKind kind);

enum class Recompute : uint8_t { kNone, kSelective, kFull };
enum class RecomputeMethod : uint8_t { kUniform, kBlock };
enum class CrossEntropyFusion : uint8_t { kNone, kNative, kTransformerEngine };
enum class MoeDispatcher : uint8_t { kAllToAll, kAllGather, kFlex };

// What selective recomputation repeats in backward.
struct RecomputeModules {
  bool core_attention = false;
  bool norms = false;
  bool moe_activation = false;
  bool mlp = false;
  bool moe = false;
  bool shared_experts = false;
  bool mla_up_projection = false;
  bool operator==(const RecomputeModules&) const = default;
};

struct BatchSizes {
  int64_t micro = 0;
  int64_t global = 0;
};

struct PrecisionRules {
  DataType type = DataType::kBf16;  // of parameters, activations and messages
  bool fp8 = false;                 // linear layers compute in fp8; `type` is bf16
  DataType gradients = DataType::kFp32;
  bool tp_only_amax_red = false;  // fp8: largest values are reduced over tp instead of tp-dp-cp
};

struct RecomputeRules {
  Recompute granularity = Recompute::kNone;
  RecomputeMethod method = RecomputeMethod::kUniform;
  int layers = 1;
  RecomputeModules modules;  // none unless granularity is kSelective
};

struct OptimizerRules {
  bool distributed = false;
  bool gradient_clipping = true;
  bool check_gradients = true;
  bool step_checks = true;
  int64_t bucket_elements = 0;                       // 0: the framework's rule
  BufferKind gradient_buffers = BufferKind::kPlain;  // of gradient buckets and parameters
};

struct KernelRules {
  bool fused = true;
  bool gradient_accumulation_fusion = true;
  CrossEntropyFusion cross_entropy_fusion = CrossEntropyFusion::kNone;
};

struct ExpertRules {
  MoeDispatcher dispatcher = MoeDispatcher::kAllToAll;
  double capacity_factor = 0;  // 0: no token is dropped
  bool pad_to_capacity = false;
  double imbalance = 1;  // tokens of the busiest expert-parallel rank / the mean
  bool aux_loss = true;  // token counts are reduced over tp-cp in the forward pass of each layer
  bool grouped_gemm = true;
};

// How pipeline stages exchange messages.
struct PipelineMessageRules {
  bool batch_sync = true;
  bool scatter_gather = false;
};

struct HostRules {
  std::string launch = "fused";  // a set of configs/host-launch.yaml, or "none"
  GraphScope cuda_graphs = GraphScope::kNone;
  bool synchronous_timers = false;
};

struct TrainingRules {
  FrameworkKind framework = FrameworkKind::kMegatron;
  BatchSizes batch;
  PrecisionRules precision;
  RecomputeRules recompute;
  OptimizerRules optimizer;
  KernelRules kernels;
  ExpertRules moe;
  PipelineMessageRules p2p;
  HostRules host;
  bool causal_flops_halved = true;
};

// How partial sums leave a product with overlap.tensor: part of the columns by part, each by a
// reduce-scatter; or part of the rows by part, each to the rank that has them, which adds up all.
enum class ScatterForm : uint8_t { kPipelined, kRing };

enum class ContextType : uint8_t { kP2p, kAllToAll, kAllGather };

enum class RankOrder : uint8_t {
  kTensorContextExpertDataPipeline,
  kTensorContextExpertPipelineData
};

struct ParallelRules {
  int tensor = 1;
  bool sequence_parallel = false;
  int pipeline = 1;
  int virtual_pipeline = 1;
  std::string layout;          // what each virtual stage holds (pipeline_layout.h); "": by rule
  int first_stage_layers = 0;  // 0: as many as the others
  int last_stage_layers = 0;
  bool account_for_embedding = false;  // it counts as a layer when layers are split
  bool account_for_loss = false;
  int microbatch_group = 0;  // of interleaving; 0: pipeline
  int context = 1;
  ContextType context_type = ContextType::kP2p;
  int expert = 1;
  int expert_tensor = 0;  // 0: tensor
  int data = 0;           // 0 = auto: what the cluster leaves
  RankOrder order = RankOrder::kTensorContextExpertDataPipeline;
};

struct OverlapRules {
  bool grad_reduce = false;
  bool param_gather = false;
  bool p2p = false;  // takes effect with virtual stages only
  bool p2p_wait_send = true;
  bool tensor_backward = true;
  bool tensor = false;  // Transformer Engine's userbuffers hide tensor-parallel communication:
  bool tensor_gather = true;   // gathers in front of split products,
  bool tensor_scatter = true;  // reduce-scatters behind split products,
  ScatterForm scatter_proj = ScatterForm::kPipelined;
  ScatterForm scatter_fc2 = ScatterForm::kPipelined;
  bool tensor_bulk_dgrad = true;        // gathers beside a whole input gradient,
  bool tensor_bulk_wgrad = true;        // reduce-scatters beside a whole weight gradient
  bool expert = false;                  // one micro-batch's token exchange beside another's compute
  bool delay_weight_gradients = false;  // with `expert`: behind what other ranks wait for
  bool shared_expert = false;
};

struct TrainingJob {
  ModelShape model;
  TrainingRules training;
  ParallelRules parallel;
  OverlapRules overlap;
  FsdpRules fsdp;
  ZeroRules zero;
  MemoryRules memory;

  // An error at the place of "section.key" (of the section, if the key was left out).
  Error ErrorAt(const std::string& key, const std::string& message) const;

  std::string file_name;
  std::string yaml;  // as read, overrides applied
  std::map<std::string, Diagnostic> places;
};

// `overrides`: "section.key=value" of the sections above. Reports everything wrong at once.
Result<TrainingJob> LoadTrainingJob(const std::string& path,
                                    const std::vector<std::string>& overrides);
Result<TrainingJob> ParseTrainingJob(const std::string& text, const std::string& file_name,
                                     const std::vector<std::string>& overrides);

// True if the --set assignment names a section of model.yaml.
bool IsTrainingOverride(const std::string& assignment);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_TRAINING_JOB_H_
