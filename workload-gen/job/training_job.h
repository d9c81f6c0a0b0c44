// A training run as model.yaml states it (docs/reference/model-file.md): the model's shape, how it
// is trained, how it is spread over ranks, what overlaps. Nothing here depends on a cluster.
//
// Plain data, with the place of each value in the file, so that later errors (a layout that does
// not fit the cluster) point to its line. Immutable once read.
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
#include "workload-gen/job/cuda_graphs.h"
#include "workload-gen/job/memory_rules.h"
#include "workload-gen/job/model_shape.h"
#include "workload-gen/job/sharding_rules.h"

namespace drydock {

// Parts into which Transformer Engine splits the GEMM of a row-parallel layer to overlap it with a
// reduce-scatter: num_splits in pytorch/module/base.py.
inline constexpr int kScatterParts = 4;

enum class FrameworkKind : uint8_t { kMegatron, kDeepSpeed, kFsdp };
const std::vector<std::string>& FrameworkNames();  // as training.framework has them
const std::string& FrameworkName(FrameworkKind kind);

enum class Recompute : uint8_t { kNone, kSelective, kFull };
enum class RecomputeMethod : uint8_t { kUniform, kBlock };
enum class CrossEntropyFusion : uint8_t { kNone, kNative, kTransformerEngine };
// The kernels of attention where the rest is fused. kAuto: the framework picks.
enum class AttentionKernels : uint8_t { kAuto, kFlash, kCudnn, kUnfused };
// The kernels of sparse attention: PyTorch's operators, TileLang's, or cuDNN's and FlashMLA's.
enum class SparseKernels : uint8_t { kUnfused, kTileLang, kCudnn };
// kFlex: DeepEP.
enum class MoeDispatcher : uint8_t { kAllToAll, kAllGather, kFlex, kHybridEp };

// The modules that backward repeats with selective recomputation.
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

// Linear layers, by their place, whose format differs from that of the others.
struct LinearParts {
  bool qkv = false;
  bool proj = false;
  bool latent = false;  // into and out of the latent width of experts
  bool mamba_out = false;
  bool mtp = false;  // all of the layers of multi-token prediction
  bool any() const { return *this != LinearParts(); }
  bool operator==(const LinearParts&) const = default;
};

struct BatchSizes {
  int64_t micro = 0;
  int64_t global = 0;
};

// How operands are scaled to fp8: with a scale for a tensor, from earlier steps or from the tensor
// itself, or with a scale for each block.
enum class Fp8Recipe : uint8_t { kDelayed, kTensorwise, kBlockwise, kMxfp8 };

struct PrecisionRules {
  DataType type = DataType::kBf16;  // of parameters, activations and messages
  // Linear layers compute in fp8 or NVFP4; `type` is bf16.
  bool fp8 = false, nvfp4 = false;
  Fp8Recipe recipe = Fp8Recipe::kDelayed;
  bool hadamard = true;  // NVFP4: operands of weight gradients pass a random Hadamard transform
  // NVFP4: output gradients are rounded at random; scales of weights are of 16 x 16 elements. The
  // kernels move the same bytes with and without them.
  bool stochastic_rounding = true, square_blocks = true;
  int half_layers_at_start = 0,
      half_layers_at_end = 0;     // layers whose linear layers stay in `type`
  LinearParts half_parts;         // linear layers that stay in `type`
  LinearParts mxfp8_parts;        // NVFP4: linear layers in MXFP8
  bool quantized_gather = false;  // parameters are stored and gathered in the format of products
  DataType gradients = DataType::kFp32;
  bool fp8_attention = false;     // the products of core attention are in fp8, too
  bool tp_only_amax_red = false;  // fp8: largest values are reduced over tp instead of tp-dp-cp

  bool quantized() const { return fp8 || nvfp4; }
  bool delayed_scaling() const { return fp8 && recipe == Fp8Recipe::kDelayed; }
  // The format of the products of linear layers.
  DataType products() const;
  // Returns whether all linear layers of a transformer layer stay in `type`. Layers of multi-token
  // prediction follow the model's.
  bool IsHalf(int layer, int layers) const {
    if (!quantized()) return false;
    if (layer >= layers) return half_parts.mtp;
    return layer < half_layers_at_start || layer >= layers - half_layers_at_end;
  }
};

struct RecomputeRules {
  Recompute granularity = Recompute::kNone;
  RecomputeMethod method = RecomputeMethod::kUniform;
  int layers = 1;
  RecomputeModules modules;  // none unless granularity is kSelective
};

enum class OptimizerKind : uint8_t { kAdam, kMuon };

// How Newton-Schulz treats a matrix that tensor ranks split: each rank its part, each rank all of
// it, or all ranks together.
enum class MuonTensorMode : uint8_t { kBlockwise, kDuplicated, kDistributed };

struct MuonRules {
  int steps = 5;  // of Newton-Schulz
  MuonTensorMode tensor_mode = MuonTensorMode::kDuplicated;
  bool nesterov = false;
  bool split_qkv = true;  // queries, keys and values are matrices of their own
  bool layout = true;     // distributed: buckets place whole matrices on ranks
};

struct OptimizerRules {
  OptimizerKind kind = OptimizerKind::kAdam;
  MuonRules muon;
  bool distributed = false;
  int instances = 1;  // distributed: groups of data-parallel ranks that each hold all states
  bool gradient_clipping = true;
  bool check_gradients = true;
  bool step_checks = true;
  int64_t bucket_elements = 0;                       // 0: the framework's rule
  BufferKind gradient_buffers = BufferKind::kPlain;  // of gradient buckets and parameters

  bool is_muon() const { return kind == OptimizerKind::kMuon; }
  // Gradients are reduce-scattered, not all-reduced.
  bool scatters() const { return distributed && (!is_muon() || muon.layout); }
};

struct KernelRules {
  bool fused = true;
  AttentionKernels attention = AttentionKernels::kAuto;
  SparseKernels sparse_attention = SparseKernels::kUnfused;
  bool gradient_accumulation_fusion = true;
  bool rope_fusion = true;            // one kernel rotates, if `fused`
  bool softmax_fusion = true;         // one kernel for scale, mask and softmax, if not `fused`
  bool fp8_activation_input = false;  // what the activation of a dense MLP keeps for backward
  bool fused_ops = false;             // Transformer Engine's operation fuser runs dense MLPs
  CrossEntropyFusion cross_entropy_fusion = CrossEntropyFusion::kNone;
};

struct ExpertRules {
  MoeDispatcher dispatcher = MoeDispatcher::kAllToAll;
  double capacity_factor = 0;  // 0: no token is dropped
  bool pad_to_capacity = false;
  double imbalance = 1;  // tokens of the busiest expert-parallel rank / the mean
  std::string loads = "uniform";  // the distribution that `imbalance` follows from
  bool aux_loss = true;  // token counts are reduced over tp-cp in the forward pass of each layer
  bool grouped_gemm = true;
  bool one_kernel = false;     // computes all local experts; otherwise a product for each of them
  bool fused_mlp = false;      // products of experts run the activation between them
  bool device_counts = false;  // the host does not read the numbers of tokens
  bool router_fusion = false;
  bool router_padding = false;  // fp8: the router pads, so that no kernel does at the experts
  int dispatch_sms = 0;         // of DeepEP's or HybridEP's kernels; 0: the dispatcher's default
  bool low_latency = false;     // kFlex: DeepEP's kernels of low latency

  // One of the libraries whose kernels exchange tokens without NCCL.
  bool without_nccl() const {
    return dispatcher == MoeDispatcher::kFlex || dispatcher == MoeDispatcher::kHybridEp;
  }
  // How such a library exchanges tokens. REQUIRES: without_nccl().
  BufferKind exchange() const {
    if (dispatcher == MoeDispatcher::kHybridEp) return BufferKind::kHybridEp;
    return low_latency ? BufferKind::kDeepEpLowLatency : BufferKind::kDeepEp;
  }
};

// How pipeline stages exchange messages.
struct PipelineMessageRules {
  bool batch_sync = true;
  bool scatter_gather = false;
};

struct HostRules {
  std::string launch = "fused";  // a set of configs/host-launch.yaml, or "none"
  GraphRules cuda_graphs;
  GraphMaker graph_maker = GraphMaker::kTransformerEngine;
  bool synchronous_timers = false;
  bool deterministic = false;    // torch.use_deterministic_algorithms
  bool log_params_norm = false;  // each step computes and reads these
  bool log_zeros = false;
  Time sample_time;  // in which a rank's data loader delivers a sample; 0: it is never late
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
  int offload_layers = 0;  // the first layers, whose activations wait on the host
  ModuleOffloadRules module_offload;
  bool causal_flops_halved = true;

  bool fused_attention() const {
    return kernels.fused && kernels.attention != AttentionKernels::kUnfused;
  }
};

// How overlap.tensor splits the GEMM before a reduce-scatter. kPipelined: by columns, with a
// reduce-scatter per part. kRing: by rows; each part goes to the rank that owns the rows, which
// adds up the parts of all ranks.
enum class ScatterForm : uint8_t { kPipelined, kRing };

// kHeadsAndRing: inner groups exchange heads for rows, as kAllToAll does; keys and values pass
// around outer rings, as with kP2p.
enum class ContextType : uint8_t { kP2p, kAllToAll, kAllGather, kHeadsAndRing };
// Whether keys and values pass around a ring, and whether ranks exchange heads for rows.
inline bool PassesKeys(ContextType type) {
  return type == ContextType::kP2p || type == ContextType::kHeadsAndRing;
}
inline bool ExchangesHeads(ContextType type) {
  return type == ContextType::kAllToAll || type == ContextType::kHeadsAndRing;
}

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
  int first_stage_layers = 0;  // 0: the same number as other stages
  int last_stage_layers = 0;
  bool account_for_embedding = false;  // it counts as a layer when layers are split
  bool account_for_loss = false;
  int microbatch_group = 0;  // of interleaving; 0: pipeline
  int context = 1;
  ContextType context_type = ContextType::kP2p;
  int context_heads = 0;  // kHeadsAndRing: ranks of an inner group; 0: not given
  int expert = 1;
  int expert_tensor = 0;  // 0: tensor
  int data = 0;           // 0: auto, all GPUs of the cluster
  RankOrder order = RankOrder::kTensorContextExpertDataPipeline;
};

struct OverlapRules {
  bool grad_reduce = false;
  bool param_gather = false;
  bool p2p = false;  // takes effect only with virtual stages
  bool p2p_wait_send = true;
  bool tensor_backward = true;
  bool tensor = false;  // Transformer Engine's userbuffers overlap tensor-parallel communication:
  bool tensor_gather = true;   // all-gathers with the parts of the next GEMM,
  bool tensor_scatter = true;  // reduce-scatters with the parts of the previous GEMM,
  ScatterForm scatter_proj = ScatterForm::kPipelined;
  ScatterForm scatter_fc2 = ScatterForm::kPipelined;
  bool tensor_bulk_dgrad = true;        // all-gathers with a whole input gradient,
  bool tensor_bulk_wgrad = true;        // reduce-scatters with a whole weight gradient
  bool expert = false;                  // token exchange with the compute of another micro-batch
  bool delay_weight_gradients = false;  // with `expert`: after the work that others wait for
  bool shared_expert = false;
};

struct TrainingJob {
  ModelShape model;
  TrainingRules training;
  ParallelRules parallel;
  OverlapRules overlap;
  FsdpRules fsdp;
  ZeroRules zero;
  MegatronFsdpRules megatron_fsdp;
  MemoryRules memory;

  // Whether backward can repeat the norm before experts (recompute_modules: [layernorm]). It cannot
  // if the norm's result leaves Transformer Engine's graph of parts of the layer in memory that the
  // graph owns, or if shared experts outside of that graph read it
  // (can_recompute_pre_mlp_layernorm_for_cudagraph in Megatron-Core's transformer_layer.py).
  bool may_repeat_expert_norm() const {
    const GraphModules& captured = training.host.cuda_graphs.modules;
    if (!captured.moe_router || training.host.graph_maker == GraphMaker::kLocal) return true;
    if (model.moe.shared_ffn > 0 && overlap.shared_expert) return false;
    return captured.moe_preprocess &&
           (training.moe.dispatcher == MoeDispatcher::kAllToAll || model.moe.latent > 0);
  }
  // Tokens of a micro-batch on a rank, which holds its part of each sequence; and on a rank that
  // shares them out among its tensor-parallel ranks.
  int64_t rank_tokens() const { return model.sequence / parallel.context * training.batch.micro; }
  int64_t tensor_rank_tokens() const { return rank_tokens() / parallel.tensor; }
  // Returns an error at the place of "section.key"; at the section if the key is not given.
  Error ErrorAt(const std::string& key, const std::string& message) const;

  std::string file_name;
  std::string yaml;  // as read, overrides applied
  std::map<std::string, Diagnostic> places;
};

// `overrides`: "section.key=value" of the sections above. Reports all mistakes at once.
Result<TrainingJob> LoadTrainingJob(const std::string& path,
                                    const std::vector<std::string>& overrides);
Result<TrainingJob> ParseTrainingJob(const std::string& text, const std::string& file_name,
                                     const std::vector<std::string>& overrides);

// True if the --set assignment names a section of model.yaml.
bool IsTrainingOverride(const std::string& assignment);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_TRAINING_JOB_H_
