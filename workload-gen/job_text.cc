#include "workload-gen/job_text.h"

#include <fmt/format.h>

#include "core/base/spelling.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

class SectionText {
 public:
  explicit SectionText(const char* name) : text_(fmt::format("{}:\n", name)) {}

  template <typename T>
  void Add(const char* key, const T& value) {
    text_ += fmt::format("  {}: {}\n", key, value);
  }
  void AddName(const char* key, const std::string& value) {
    std::string quoted;
    for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
    text_ += fmt::format("  {}: '{}'\n", key, quoted);
  }
  template <typename Enum>
  void AddChoice(const char* key, Enum value, const std::vector<std::string>& names) {
    Add(key, names[static_cast<size_t>(value)]);
  }
  // A count of which 0 says that there is none.
  void AddIfAny(const char* key, int64_t value) {
    if (value > 0) Add(key, value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void AddHeads(const ModelShape& m, SectionText* out) {
  out->Add("heads", m.attention.heads);
  if (!m.attention.is_latent()) {
    out->Add("kv_heads", m.attention.kv_heads);
    out->Add("head_dim", m.attention.head_dim);
    return;
  }
  out->Add("kv_lora_rank", m.attention.latent.kv_rank);
  out->AddIfAny("q_lora_rank", m.attention.latent.q_rank);
  out->Add("qk_nope_dim", m.attention.latent.nope_dim);
  out->Add("qk_rope_dim", m.attention.latent.rope_dim);
  out->Add("value_dim", m.attention.latent.value_dim);
}

void AddExperts(const ModelShape& m, SectionText* out) {
  if (m.moe.experts == 0) return;
  out->Add("experts", m.moe.experts);
  out->Add("experts_per_token", m.moe.per_token);
  out->Add("expert_ffn", m.moe.ffn);
  out->Add("shared_expert_ffn", m.moe.shared_ffn);
  out->Add("shared_expert_gate", m.moe.shared_gate);
  out->Add("first_dense_layers", m.moe.first_dense_layers);
  out->Add("moe_every", m.moe.every);
  out->Add("router_bias", m.moe.router_bias);
}

std::string ModelText(const ModelShape& m) {
  SectionText out("model");
  out.Add("architecture", "gpt");  // all that it would set is set below
  out.AddName("name", m.name);
  out.Add("layers", m.layers);
  out.Add("hidden", m.hidden);
  AddHeads(m, &out);
  out.Add("ffn", m.mlp.ffn);
  out.Add("vocab", m.embedding.vocab);
  out.Add("vocab_multiple", m.embedding.vocab_multiple);
  out.Add("sequence", m.sequence);
  out.AddChoice("positions", m.embedding.positions, PositionsNames());
  out.Add("max_positions", m.embedding.max_positions);
  out.AddChoice("activation", m.mlp.activation, ActivationNames());
  out.Add("norm", m.rms_norm ? "rmsnorm" : "layernorm");
  out.Add("tied_embedding", m.embedding.tied);
  out.Add("bias", m.bias);
  out.Add("qkv_bias", m.attention.qkv_bias);
  out.Add("qk_norm", m.attention.qk_norm);
  out.Add("post_norms", m.post_norms);
  out.Add("causal", m.attention.causal);
  out.AddIfAny("window", m.attention.window);
  out.AddIfAny("full_attention_every", m.attention.full_attention_every);
  out.AddIfAny("full_attention_first", m.attention.full_attention_first);
  AddExperts(m, &out);
  out.Add("mtp_layers", m.mtp_layers);
  out.AddIfAny("patch_features", m.embedding.patch_features);
  out.Add("dropout", m.dropout);
  out.Add("attention_dropout", m.attention.dropout);
  return out.text();
}

std::string ModulesText(const RecomputeModules& modules) {
  const bool members[] = {modules.core_attention,
                          modules.norms,
                          modules.moe_activation,
                          modules.mlp,
                          modules.moe,
                          modules.shared_experts,
                          modules.mla_up_projection};
  std::vector<std::string> names;
  for (size_t i = 0; i < std::size(members); ++i) {
    if (members[i]) names.push_back(RecomputeModuleNames()[i]);
  }
  return fmt::format("[{}]", Join(names));
}

void AddRecompute(const TrainingRules& t, SectionText* out) {
  out->AddChoice("recompute", t.recompute.granularity, {"none", "selective", "full"});
  if (t.recompute.granularity == Recompute::kSelective) {
    out->Add("recompute_modules", ModulesText(t.recompute.modules));
  }
  if (t.recompute.granularity == Recompute::kFull) {
    out->AddChoice("recompute_method", t.recompute.method, {"uniform", "block"});
    out->Add("recompute_layers", t.recompute.layers);
  }
}

const char* PrecisionName(const TrainingRules& t) {
  return t.precision.fp8 ? "fp8" : t.precision.type == DataType::kFp16 ? "fp16" : "bf16";
}

const char* GradientName(DataType type) {
  return type == DataType::kFp32 ? "fp32" : type == DataType::kFp16 ? "fp16" : "bf16";
}

std::string TrainingText(const TrainingJob& job) {
  const TrainingRules& t = job.training;
  SectionText out("training");
  out.Add("framework", t.framework);
  out.Add("precision", PrecisionName(t));
  out.Add("micro_batch", t.batch.micro);
  out.Add("global_batch", t.batch.global);
  AddRecompute(t, &out);
  out.Add("optimizer", "adam");
  out.Add("distributed_optimizer", t.optimizer.distributed);
  out.Add("gradient_type", GradientName(t.precision.gradients));
  out.Add("kernels", t.kernels.fused ? "fused" : "unfused");
  out.Add("gradient_accumulation_fusion", t.kernels.gradient_accumulation_fusion);
  out.Add("tp_only_amax_red", t.precision.tp_only_amax_red);
  out.Add("gradient_clipping", t.optimizer.gradient_clipping);
  out.AddChoice("cross_entropy_fusion", t.kernels.cross_entropy_fusion, {"none", "native", "te"});
  out.Add("causal_flops", t.causal_flops_halved ? "half" : "full");
  out.AddIfAny("bucket_elements", t.optimizer.bucket_elements);
  out.AddChoice("gradient_buffers", t.optimizer.gradient_buffers, BufferKindNames());
  out.Add("batch_p2p_sync", t.p2p.batch_sync);
  out.Add("scatter_gather_p2p", t.p2p.scatter_gather);
  out.Add("check_gradients", t.optimizer.check_gradients);
  out.Add("step_checks", t.optimizer.step_checks);
  out.Add("synchronous_timers", t.host.synchronous_timers);
  out.Add("host_launch", t.host.launch);
  out.AddChoice("cuda_graphs", t.host.cuda_graphs, {"none", "layers", "full"});
  if (job.model.moe.experts == 0) return out.text();
  out.AddChoice("moe_dispatcher", t.moe.dispatcher, MoeDispatcherNames());
  out.Add("moe_capacity_factor", t.moe.capacity_factor);
  out.Add("moe_pad_to_capacity", t.moe.pad_to_capacity);
  out.Add("moe_imbalance", t.moe.imbalance);
  out.Add("moe_aux_loss", t.moe.aux_loss);
  out.Add("moe_grouped_gemm", t.moe.grouped_gemm);
  return out.text();
}

std::string ParallelText(const ParallelRules& p) {
  SectionText out("parallel");
  out.Add("tensor", p.tensor);
  out.Add("sequence_parallel", p.sequence_parallel);
  out.Add("pipeline", p.pipeline);
  out.Add("virtual_pipeline", p.virtual_pipeline);
  if (!p.layout.empty()) out.AddName("layout", p.layout);
  out.AddIfAny("first_stage_layers", p.first_stage_layers);
  out.AddIfAny("last_stage_layers", p.last_stage_layers);
  out.Add("account_for_embedding", p.account_for_embedding);
  out.Add("account_for_loss", p.account_for_loss);
  out.AddIfAny("microbatch_group", p.microbatch_group);
  out.Add("context", p.context);
  out.AddChoice("context_type", p.context_type, ContextTypeNames());
  out.Add("expert", p.expert);
  out.AddIfAny("expert_tensor", p.expert_tensor);
  if (p.data == 0)
    out.Add("data", "auto");
  else
    out.Add("data", p.data);
  out.AddChoice("rank_order", p.order, RankOrderNames());
  return out.text();
}

std::string OverlapText(const OverlapRules& o) {
  SectionText out("overlap");
  out.Add("grad_reduce", o.grad_reduce);
  out.Add("param_gather", o.param_gather);
  out.Add("p2p", o.p2p);
  out.Add("p2p_wait_send", o.p2p_wait_send);
  out.Add("tensor_backward", o.tensor_backward);
  out.Add("tensor", o.tensor);
  out.Add("tensor_gather", o.tensor_gather);
  out.Add("tensor_scatter", o.tensor_scatter);
  out.AddChoice("tensor_scatter_proj", o.scatter_proj, ScatterFormNames());
  out.AddChoice("tensor_scatter_fc2", o.scatter_fc2, ScatterFormNames());
  out.Add("tensor_bulk_dgrad", o.tensor_bulk_dgrad);
  out.Add("tensor_bulk_wgrad", o.tensor_bulk_wgrad);
  out.Add("expert", o.expert);
  out.Add("delay_weight_gradients", o.delay_weight_gradients);
  out.Add("shared_expert", o.shared_expert);
  return out.text();
}

std::string ShardingText(const TrainingJob& job) {
  if (job.training.framework == "fsdp") return FsdpText(job.fsdp);
  return job.training.framework == "deepspeed" ? ZeroText(job.zero) : "";
}

}  // namespace

std::string JobText(const TrainingJob& job) {
  const int64_t all = ParameterCount(job.model), active = ActiveParameterCount(job.model);
  std::string text = fmt::format("# {} parameters", all);
  if (active != all) text += fmt::format(", of which a token meets {}", active);
  return text + "\n" + ModelText(job.model) + TrainingText(job) + ParallelText(job.parallel) +
         OverlapText(job.overlap) + ShardingText(job) + MemoryRulesText(job.memory);
}

}  // namespace drydock
