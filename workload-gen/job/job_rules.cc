#include "workload-gen/job/job_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "workload-gen/job/graph_rules.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

class JobRules {
 public:
  JobRules(const TrainingJob& job, Diagnostics* diagnostics)
      : job_(job), diagnostics_(diagnostics) {}

  void Check() {
    if (job_.model.moe.experts > 0)
      CheckExperts();
    else
      RefuseExpertDegrees();
    CheckAdapters();
    CheckRecompute();
    CheckAttention();
    CheckDeterminism();
    CheckSparseAttention();
    if (job_.parallel.context_heads > 0 && job_.parallel.context == 1) {
      Fail("parallel.context_heads", "'context_heads' needs parallel.context above 1");
    }
    CheckScales();
    CheckOverlap();
    CheckMegatronFsdp();
    CheckMuon();
    CheckOffload();
    CheckInterleaving();
    if (!job_.parallel.layout.empty()) CheckLayout();
    CheckTensors();
    CheckGraphs(job_, diagnostics_);
  }

 private:
  template <typename... Args>
  void Fail(const std::string& key, fmt::format_string<Args...> text, Args&&... args) {
    diagnostics_->Add(job_.ErrorAt(key, fmt::format(text, std::forward<Args>(args)...)));
  }

  void RefuseExpertDegrees() {
    if (job_.parallel.expert > 1) Fail("parallel.expert", "'expert' needs model.experts");
    if (job_.parallel.expert_tensor > 1) {
      Fail("parallel.expert_tensor", "'expert_tensor' needs model.experts");
    }
  }

  void CheckAdapters() {
    const LoraShape& lora = job_.model.lora;
    if (lora.any() && lora.rank % job_.parallel.tensor != 0) {
      Fail("model.lora_rank", "lora_rank {} is not divisible by tensor {}", lora.rank,
           job_.parallel.tensor);
    }
    if (lora.all_to_all && !job_.parallel.sequence_parallel) {
      Fail("model.lora_all_to_all", "'lora_all_to_all' needs parallel.sequence_parallel");
    }
    const int64_t length = job_.model.attended();
    if (length < 2 * job_.parallel.context) {
      Fail("model.sample_length", "samples of {} tokens are too short for context {}", length,
           job_.parallel.context);
    }
  }

  void CheckExperts() {
    const ParallelRules& parallel = job_.parallel;
    if (job_.model.moe.experts % parallel.expert != 0) {
      int nearest = parallel.expert;
      while (job_.model.moe.experts % nearest != 0) --nearest;
      Fail("parallel.expert",
           "experts {} is not divisible by expert {}; the nearest below that fits is {}",
           job_.model.moe.experts, parallel.expert, nearest);
    }
    if (parallel.tensor > 1 && !parallel.sequence_parallel) {
      Fail(
          "parallel.sequence_parallel",
          "with experts, tensor {} needs sequence_parallel: true (each rank routes its own tokens)",
          parallel.tensor);
    }
    if (job_.training.moe.imbalance > parallel.expert) {
      Fail("training.moe_imbalance",
           "moe_imbalance {} is more than expert {}: no rank has more than all tokens",
           job_.training.moe.imbalance, parallel.expert);
    }
  }

  void CheckRecompute() {
    const RecomputeModules& modules = job_.training.recompute.modules;
    const char* key = "training.recompute_modules";
    if ((modules.moe || modules.moe_activation) && job_.model.moe.experts == 0) {
      Fail(key, "'moe' and 'moe_act' need model.experts");
    }
    if (modules.shared_experts && job_.model.moe.shared_ffn == 0) {
      Fail(key, "'shared_experts' needs model.shared_expert_ffn");
    }
    if (modules.mla_up_projection && !job_.model.attention.is_latent()) {
      Fail(key, "'mla_up_proj' needs model.kv_lora_rank");
    }
    if (modules.norms && job_.training.kernels.fused && !job_.model.attention.is_latent() &&
        job_.model.moe.experts == 0) {
      Fail(key,
           "'layernorm' has no effect with kernels: fused: Transformer Engine runs the norms of "
           "dense layers and standard attention within the products behind them; leave it out");
    }
    if (modules.shared_experts && job_.overlap.shared_expert) {
      Fail(key, "'shared_experts' excludes overlap.shared_expert");
    }
    if ((modules.norms || modules.moe_activation) && job_.training.precision.delayed_scaling()) {
      Fail(key,
           "'layernorm' and 'moe_act' exclude fp8_recipe: delayed, the default, as Megatron-Core "
           "does; write another one, such as tensorwise");
    }
    const RecomputeRules& recompute = job_.training.recompute;
    if (recompute.method == RecomputeMethod::kUniform && recompute.layers == 0) {
      Fail("training.recompute_layers",
           "recompute_layers 0 needs recompute_method: block, where it means that no layer repeats "
           "its forward; uniform groups have at least 1 layer");
    }
  }

  void CheckAttention() {
    const KernelRules& kernels = job_.training.kernels;
    if (kernels.attention != AttentionKernels::kAuto && !kernels.fused) {
      Fail("training.attention_kernels",
           "'attention_kernels' needs kernels: fused; with kernels: unfused, attention is unfused");
    }
    if (job_.model.attention.sinks) CheckSinks();
  }

  // Whose kernels take a learned term of the softmax: get_attention_backend of Transformer Engine.
  void CheckSinks() {
    const AttentionKernels kernels = job_.training.kernels.attention;
    const ParallelRules& parallel = job_.parallel;
    if (kernels == AttentionKernels::kFlash) {
      Fail("training.attention_kernels",
           "'flash' excludes model.attention_sinks, which FlashAttention does not have; write "
           "auto, cudnn or unfused");
    }
    if (!job_.training.kernels.fused || parallel.context == 1) return;
    if (kernels == AttentionKernels::kUnfused) {
      Fail("training.attention_kernels",
           "'unfused' with model.attention_sinks needs context: 1; write auto or cudnn");
    } else if (parallel.context_type != ContextType::kAllToAll) {
      Fail("parallel.context_type",
           "context {} with model.attention_sinks needs context_type: a2a, the only one in which "
           "Transformer Engine has them",
           parallel.context);
    }
  }

  // determinism.py of Megatron-LM, and get_attention_backend of Transformer Engine.
  void CheckDeterminism() {
    const TrainingRules& training = job_.training;
    if (!training.host.deterministic) return;
    const char* key = "training.deterministic";
    if (training.framework == FrameworkKind::kFsdp) {
      return Fail(
          key,
          "'deterministic' is not generated for framework fsdp: torchtitan fills no tensors, "
          "and the time of its deterministic kernels is not known; write false");
    }
    if (training.kernels.cross_entropy_fusion != CrossEntropyFusion::kNone) {
      Fail(key, "'deterministic' needs cross_entropy_fusion: none, as in Megatron-LM");
    }
    if (job_.model.attention.sinks && training.fused_attention()) {
      Fail(key,
           "'deterministic' with model.attention_sinks needs attention_kernels: unfused: no other "
           "kernels of Transformer Engine are deterministic then");
    }
  }

  // What Megatron-LM refuses (transformer_config.py, absorbed_mla.py), or would run without
  // gradients that it waits for.
  void CheckSparseAttention() {
    if (!job_.model.attention.is_sparse()) return;
    const char* key = "model.index_topk";
    const ParallelRules& parallel = job_.parallel;
    if (job_.training.framework != FrameworkKind::kMegatron) {
      return Fail(key, "'index_topk' needs framework: megatron");
    }
    if (parallel.tensor > 1 && !parallel.sequence_parallel) {
      Fail("parallel.sequence_parallel",
           "'index_topk' with tensor {} needs sequence_parallel: true", parallel.tensor);
    }
    if (parallel.context > 1 && parallel.context_type != ContextType::kAllGather) {
      Fail("parallel.context_type", "'index_topk' needs context_type: allgather");
    }
    const TrainingRules& training = job_.training;
    if (training.precision.quantized() && training.recompute.modules.mla_up_projection) {
      Fail("training.recompute_modules",
           "'mla_up_proj' with index_topk needs precision: bf16, not {}",
           ToString(training.precision.products()));
    }
    if (training.precision.fp8_attention) {
      Fail("training.fp8_attention", "'fp8_attention' excludes index_topk");
    }
    if (training.module_offload.any()) {
      Fail("training.offload_modules", "'offload_modules' is not generated with index_topk");
    }
    if (job_.model.attention.sparse.loss == IndexLoss::kNone && job_.overlap.grad_reduce) {
      Fail("model.index_loss",
           "'index_loss: none' needs overlap.grad_reduce: false, which waits for all gradients");
    }
    CheckSparseKernels();
  }

  // Where Megatron-LM's fused kernels take the shape; it would fall back to PyTorch's operators
  // (dsa_cudnn_kernels.py, ops/tilelang_dsa.py, dsa_kernels.py).
  void CheckSparseKernels() {
    const SparseKernels kernels = job_.training.kernels.sparse_attention;
    if (kernels == SparseKernels::kUnfused) return;
    const char* key = "training.sparse_attention_kernels";
    const AttentionLayerShape& attention = job_.model.attention;
    const int64_t heads = attention.heads / std::max(1, job_.parallel.tensor);
    const bool tilelang = kernels == SparseKernels::kTileLang;
    const char* name = tilelang ? "tilelang" : "cudnn";
    if (!job_.training.fused_attention()) {
      return Fail(key,
                  "'{}' needs kernels: fused with attention_kernels other than unfused, which "
                  "turns it off",
                  name);
    }
    if (attention.latent.kv_rank != 512 || (tilelang && attention.latent.rope_dim != 64)) {
      Fail(key, "'{}' needs kv_lora_rank 512{}; give unfused", name,
           tilelang ? " and qk_rope_dim 64" : "");
    }
    const bool power = (heads & (heads - 1)) == 0;
    // On Blackwell, FlashMLA takes fewer multiples of 64: CheckGpuFormat knows the GPU.
    if (tilelang ? !power : heads > 64 ? heads % 64 != 0 : heads > 0 && 64 % heads != 0) {
      Fail(key, "'{}' needs heads of a tensor rank that are {}, not {}; give unfused", name,
           tilelang ? "a power of 2" : "a divisor or a multiple of 64", heads);
    }
    if (tilelang && job_.training.precision.type != DataType::kBf16) {
      Fail(key,
           "'tilelang' needs precision: bf16 or one that keeps other tensors in bf16, not {}; "
           "give unfused",
           ToString(job_.training.precision.type));
    }
    if (tilelang && attention.sparse.top_k % 64 != 0) {
      Fail(key, "'tilelang' needs an index_topk that 64 divides, not {}; give unfused",
           attention.sparse.top_k);
    }
    if (attention.sparse.loss != IndexLoss::kDense) return;
    if (tilelang) return Fail(key, "'tilelang' needs index_loss: sparse or none; give unfused");
    if (job_.parallel.context > 1) {
      Fail(key, "'cudnn' with context {} needs index_loss: sparse or none; give unfused",
           job_.parallel.context);
    }
    if (job_.model.sample_length > 0) {
      Fail(key, "'cudnn' with sample_length needs index_loss: sparse or none; give unfused");
    }
  }

  // The neighbors that share a scale.
  static int BlockOf(DataType type) {
    switch (type) {
      case DataType::kFp8Block:
        return 128;
      case DataType::kMxfp8:
        return 32;
      case DataType::kNvfp4:
        return 16;
      default:
        return 1;
    }
  }

  // Transformer Engine's FusedAttention takes fp8 with one scale for a tensor, and exchanges it
  // around a ring or by heads.
  void CheckFp8Attention() {
    const PrecisionRules& precision = job_.training.precision;
    if (!precision.fp8_attention || !precision.fp8) return;
    const char* key = "training.fp8_attention";
    if (job_.training.framework == FrameworkKind::kFsdp) {
      return Fail(key, "'fp8_attention' is Transformer Engine's; framework: fsdp has none");
    }
    if (precision.recipe != Fp8Recipe::kDelayed && precision.recipe != Fp8Recipe::kTensorwise) {
      return Fail(key, "'fp8_attention' needs fp8_recipe: delayed or tensorwise, not {}",
                  ToString(precision.products()));
    }
    const AttentionKernels kernels = job_.training.kernels.attention;
    if (!job_.training.kernels.fused ||
        (kernels != AttentionKernels::kAuto && kernels != AttentionKernels::kCudnn)) {
      return Fail(key,
                  "'fp8_attention' needs kernels: fused with attention_kernels: auto or cudnn");
    }
    if (job_.parallel.context > 1 && job_.parallel.context_type == ContextType::kAllGather) {
      Fail(key, "'fp8_attention' needs parallel.context_type p2p, a2a or a2a+p2p");
    }
  }

  // TEFusedMLP of Megatron-Core.
  void CheckFusedOps() {
    if (!job_.training.kernels.fused_ops) return;
    const char* key = "training.fused_ops";
    if (job_.training.framework != FrameworkKind::kMegatron) {
      return Fail(key, "'fused_ops' needs framework: megatron");
    }
    if (!job_.training.kernels.fused) return Fail(key, "'fused_ops' needs kernels: fused");
    if (job_.model.lora.targets.fc1 || job_.model.lora.targets.fc2) {
      Fail(key, "'fused_ops' excludes adapters of linear_fc1 and linear_fc2");
    }
  }

  // fuse_grouped_mlp_ops of Transformer Engine and _is_fused_impl_supported of TEGroupedMLP.
  void CheckFusedExperts() {
    const TrainingRules& training = job_.training;
    if (!training.moe.fused_mlp) return;
    const char* key = "training.moe_fused_mlp";
    if (training.framework != FrameworkKind::kMegatron) {
      return Fail(key, "'moe_fused_mlp' needs framework: megatron");
    }
    if (!training.kernels.fused || !training.moe.one_kernel) {
      Fail(key, "'moe_fused_mlp' needs kernels: fused and moe_grouped_kernel: one");
    }
    if (training.precision.products() != DataType::kMxfp8) {
      Fail(key, "'moe_fused_mlp' is generated for precision: fp8 with fp8_recipe: mxfp8");
    }
    if (job_.parallel.expert_tensor > 1) Fail(key, "'moe_fused_mlp' needs expert_tensor: 1");
    if (!job_.model.mlp.gated() && job_.model.mlp.activation != Activation::kSquaredRelu) {
      Fail(key, "'moe_fused_mlp' needs activation: swiglu, geglu or squared_relu");
    }
    if (job_.model.expert_width() % 64 != 0 || job_.model.moe.ffn % 64 != 0) {
      Fail(key, "'moe_fused_mlp' needs widths of experts that 64 divides, not {} and {}",
           job_.model.expert_width(), job_.model.moe.ffn);
    }
    if (job_.model.bias || job_.model.lora.any()) {
      Fail(key, "'moe_fused_mlp' is generated without biases and adapters");
    }
    if (training.recompute.modules.moe_activation) {
      Fail(key,
           "'moe_fused_mlp' excludes recompute_modules: [moe_act], of which no kernel is left");
    }
    const OffloadModules& offloaded = training.module_offload.modules;
    if (offloaded.expert_fc1 || offloaded.expert_activation) {
      Fail(key, "'moe_fused_mlp' excludes offload_modules: [expert_fc1, moe_act]");
    }
  }

  void CheckScales() {
    const PrecisionRules& precision = job_.training.precision;
    if (precision.tp_only_amax_red && !precision.delayed_scaling()) {
      Fail("training.tp_only_amax_red", "'tp_only_amax_red' needs {}",
           precision.fp8 ? "fp8_recipe: delayed" : "precision: fp8");
    }
    CheckFp8Attention();
    CheckFusedOps();
    CheckFusedExperts();
    if (precision.half_parts.any() && !precision.quantized()) {
      Fail("training.bf16_linears", "'bf16_linears' needs precision: fp8 or nvfp4");
    }
    if (precision.mxfp8_parts.any() && !precision.nvfp4) {
      Fail("training.mxfp8_linears", "'mxfp8_linears' needs precision: nvfp4");
    }
    if (!precision.quantized()) return;
    if (!precision.delayed_scaling() && !job_.training.kernels.fused) {
      Fail(precision.fp8 ? "training.fp8_recipe" : "training.precision",
           "'{}' needs kernels: fused: Transformer Engine quantizes",
           ToString(precision.products()));
    }
    const int half = precision.half_layers_at_start + precision.half_layers_at_end;
    if (half > job_.model.layers) {
      Fail("training.bf16_layers_at_end", "{} layers in bf16 are more than the model's {}", half,
           job_.model.layers);
    }
    if (precision.quantized_gather && !job_.training.optimizer.distributed) {
      Fail("training.quantized_param_gather",
           "quantized_param_gather needs training.distributed_optimizer");
    }
    // quantize_master_weights of Transformer Engine's tensor/utils.py.
    if (precision.nvfp4 && precision.quantized_gather && !precision.square_blocks) {
      Fail("training.square_blocks",
           "'quantized_param_gather' with precision: nvfp4 needs square_blocks: true");
    }
    const int block = BlockOf(precision.products());
    if (job_.model.hidden % block != 0) {
      Fail("model.hidden", "hidden {} is not a multiple of {}, the elements of a block of '{}'",
           job_.model.hidden, block, ToString(precision.products()));
    }
  }

  // transformer_config.py; the layers must be alike because they offload the same bytes.
  void CheckOffload() {
    if (job_.training.module_offload.any() && job_.training.framework != FrameworkKind::kMegatron) {
      Fail("training.offload_modules", "'offload_modules' needs framework: megatron");
    }
    if (job_.training.offload_layers == 0) return;
    const char* key = "training.offload_layers";
    const int layers = job_.model.layers;
    if (job_.training.framework != FrameworkKind::kMegatron) {
      return Fail(key, "'offload_layers' needs framework: megatron");
    }
    if (job_.training.offload_layers >= layers) {
      Fail(key, "offload_layers {} must be below layers {}", job_.training.offload_layers, layers);
    }
    if (job_.parallel.pipeline > 1) Fail(key, "'offload_layers' needs pipeline: 1");
    if (job_.training.recompute.granularity != Recompute::kNone) {
      Fail(key, "'offload_layers' needs recompute: none");
    }
    if (job_.training.host.cuda_graphs.any()) Fail(key, "'offload_layers' needs cuda_graphs: none");
    if (job_.overlap.expert) Fail(key, "'offload_layers' excludes overlap.expert");
    bool alike = job_.model.pattern.empty() && job_.model.delta.attention_every == 0 &&
                 job_.model.attention.window == 0;
    for (int layer = 1; layer < layers; ++layer) {
      alike = alike && job_.model.HasExperts(layer) == job_.model.HasExperts(0);
    }
    if (!alike) Fail(key, "'offload_layers' is generated for layers that are all alike");
  }

  void CheckMuon() {
    const OptimizerRules& optimizer = job_.training.optimizer;
    if (!optimizer.is_muon()) return;
    const char* key = "training.optimizer";
    if (job_.training.framework != FrameworkKind::kMegatron) {
      return Fail(key, "'muon' needs framework: megatron");
    }
    if (job_.megatron_fsdp.any()) Fail(key, "'muon' excludes megatron_fsdp");
    if (optimizer.instances > 1) Fail(key, "'muon' needs optimizer_instances: 1");
    if (job_.training.precision.type == DataType::kFp16) Fail(key, "'muon' needs bf16 or fp8");
    if (job_.model.lora.any()) Fail(key, "'muon' excludes model.lora_rank");
    if (job_.model.embedding.patch_features > 0) Fail(key, "'muon' excludes model.patch_features");
  }

  // The rules of arguments.py and of megatron_fsdp.
  void CheckMegatronFsdp() {
    const OptimizerRules& optimizer = job_.training.optimizer;
    const MegatronFsdpRules& rules = job_.megatron_fsdp;
    if (optimizer.instances > 1 && !optimizer.distributed) {
      Fail("training.optimizer_instances",
           "'optimizer_instances' needs distributed_optimizer: true");
    }
    if (!rules.any()) return;
    const char* key = "megatron_fsdp.sharding";
    if (!optimizer.distributed) {
      Fail(key, "Megatron-FSDP needs training.distributed_optimizer: true");
    }
    if (optimizer.instances > 1 && !rules.shards_gradients()) {
      Fail(key, "with optimizer_instances {}, sharding must be optim_grads or optim_grads_params",
           optimizer.instances);
    }
    if (rules.outer_optimizer && optimizer.instances == 1) {
      Fail("megatron_fsdp.outer_sharding", "'outer_sharding: optim' needs optimizer_instances > 1");
    }
    if (job_.parallel.pipeline > 1) {
      Fail(key, "Megatron-FSDP is generated without stages: pipeline must be 1, not {}",
           job_.parallel.pipeline);
    }
    if (job_.overlap.expert) Fail(key, "Megatron-FSDP is generated with overlap.expert: false");
    if (job_.training.host.cuda_graphs.any()) {
      Fail(key, "Megatron-FSDP is generated with cuda_graphs: none");
    }
    if (job_.model.lora.any()) Fail(key, "Megatron-FSDP is generated without model.lora_rank");
  }

  void CheckOverlap() {
    const OverlapRules& overlap = job_.overlap;
    if (overlap.param_gather && !(job_.training.optimizer.distributed && overlap.grad_reduce)) {
      Fail("overlap.param_gather",
           "param_gather needs training.distributed_optimizer and overlap.grad_reduce");
    }
    if (overlap.tensor && !job_.parallel.sequence_parallel) {
      Fail("overlap.tensor", "'tensor' needs parallel.sequence_parallel");
    }
    if (overlap.tensor && !job_.training.kernels.fused) {
      Fail("overlap.tensor", "'tensor' needs training.kernels fused: it is Transformer Engine's");
    }
    // Transformer Engine does not delay a GEMM that overlaps communication.
    if (overlap.tensor && overlap.tensor_bulk_wgrad && overlap.delay_weight_gradients) {
      Fail("overlap.tensor", "'tensor' with delay_weight_gradients needs tensor_bulk_wgrad: false");
    }
    if (overlap.expert) CheckExpertOverlap();
    if (overlap.shared_expert && job_.model.moe.shared_ffn == 0) {
      Fail("overlap.shared_expert", "'shared_expert' needs model.shared_expert_ffn");
    }
  }

  // The rules of transformer_config.py in Megatron-LM.
  void CheckExpertOverlap() {
    const char* key = "overlap.expert";
    const TrainingRules& training = job_.training;
    if (job_.parallel.expert == 1) return Fail(key, "'expert' needs parallel.expert > 1");
    if (training.moe.dispatcher == MoeDispatcher::kAllGather) {
      Fail(key, "'expert' needs moe_dispatcher alltoall, flex or hybridep");
    }
    if (job_.parallel.pipeline > 1 && job_.parallel.virtual_pipeline == 1) {
      Fail(key, "with pipeline {}, 'expert' needs virtual_pipeline > 1", job_.parallel.pipeline);
    }
    if (training.recompute.granularity == Recompute::kFull || training.recompute.modules.moe) {
      Fail(key, "'expert' excludes recompute: full and recompute_modules: [moe]");
    }
    if (job_.overlap.shared_expert) Fail(key, "'expert' excludes overlap.shared_expert");
    if (!job_.model.pattern.empty()) return Fail(key, "'expert' excludes model.layer_pattern");
    const int mtp_layers = job_.model.mtp_layers;
    if (mtp_layers > 1 || (mtp_layers == 1 && !job_.model.HasExperts(job_.model.layers))) {
      Fail(key, "'expert' needs mtp_layers to be at most 1, of experts");
    }
    const std::vector<int> of_stage =
        MtpLayersOf(ExpandPipelineLayout(job_.parallel.layout).stages);
    if (!job_.parallel.layout.empty() && of_stage.back() != mtp_layers) {
      Fail(key, "'expert' needs m on the stage of L in parallel.layout");
    }
  }

  void CheckInterleaving() {
    const ParallelRules& parallel = job_.parallel;
    if (parallel.microbatch_group == 0) return;
    if (parallel.virtual_pipeline == 1) {
      Fail("parallel.microbatch_group", "'microbatch_group' needs virtual_pipeline > 1");
    } else if (parallel.microbatch_group < parallel.pipeline) {
      Fail("parallel.microbatch_group", "microbatch_group {} is less than pipeline {}",
           parallel.microbatch_group, parallel.pipeline);
    }
  }

  void CheckLayout() {
    const ParallelRules& parallel = job_.parallel;
    const LayoutDemand demand = {job_.model.layers, job_.model.mtp_layers, parallel.pipeline};
    const LayoutText text = ExpandPipelineLayout(parallel.layout);
    const std::string mistake =
        text.mistake.empty() ? LayoutMistake(text.stages, demand) : text.mistake;
    if (mistake.empty()) return;
    Fail("parallel.layout", "layout '{}': {}; the nearest that works is '{}'", parallel.layout,
         mistake, NearestPipelineLayout(text.stages, demand));
  }

  // The byte counts of larger tensors would overflow.
  void CheckTensors() {
    const ModelShape& m = job_.model;
    const auto tokens = static_cast<double>(job_.training.batch.micro * m.sequence);
    const double width =
        static_cast<double>(std::max({m.hidden, m.mlp.ffn, m.moe.ffn, m.embedding.vocab})) +
        static_cast<double>(2 * m.attention.query_width() + m.attention.value_width() +
                            m.mamba.projected() + m.delta.projected());
    const double scores = static_cast<double>(m.attention.heads) * static_cast<double>(m.sequence);
    const double routed = std::max(1, m.moe.per_token);
    if (tokens * std::max(width * routed, scores) <= 1e16) return;
    Fail("training.micro_batch", "a micro-batch of {} sequences of {} tokens is too large",
         job_.training.batch.micro, m.sequence);
  }

  const TrainingJob& job_;
  Diagnostics* diagnostics_;
};

}  // namespace

void CheckSectionsTogether(const TrainingJob& job, Diagnostics* diagnostics) {
  JobRules(job, diagnostics).Check();
}

bool HasDeterministicAttention(const TrainingJob& job) {
  return job.training.host.deterministic && job.training.fused_attention() &&
         job.model.HasMixer(Mixer::kAttention) && !job.model.attention.is_sparse();
}

}  // namespace drydock
