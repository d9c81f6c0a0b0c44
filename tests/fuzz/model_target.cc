#include "tests/fuzz/model_target.h"

#include "tests/fuzz/printable.h"
#include "workload-gen/framework/framework.h"
#include "workload-gen/import/hf/hf_config.h"
#include "workload-gen/import/megatron/megatron_job.h"
#include "workload-gen/import/overlap_config.h"
#include "workload-gen/job/job_reader.h"
#include "workload-gen/job_text.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/work/model_size.h"

namespace drydock::fuzz {
namespace {

constexpr const char* kRest =
    "training: {framework: megatron, precision: bf16, micro_batch: 1, global_batch: 8, recompute: "
    "none, optimizer: adam}\nparallel: {tensor: 1, pipeline: 1}\n";

Topology SmallCluster() {
  Topology topology;
  topology.gpus.emplace_back();
  HostKind kind;
  kind.name = "box";
  kind.gpus = 8;
  topology.host_kinds.push_back(kind);
  topology.hosts.assign(2, 0);
  return topology;
}

void CheckJob(const Result<TrainingJob>& job) {
  CheckPrintable(job);
  if (!job.ok()) return;
  CHECK(ParameterCount(job->model) > 0);
  CHECK(ActiveParameterCount(job->model) <= ParameterCount(job->model));
  CHECK(FlopsOfIteration(*job).hardware >= FlopsOfIteration(*job).model);
  CheckPrintable(MakeFramework(job->training.framework)->Check(*job));
  CheckPrintable(ResolveLayout(*job, SmallCluster()));
  const std::string text = JobText(*job);
  const Result<TrainingJob> again = ParseTrainingJob(text, "again", {});
  CHECK_NOTE(again.ok() && JobText(*again) == text, text);
}

}  // namespace

void Model(const std::string& input) { CheckJob(ParseTrainingJob(input, "f", {})); }

std::vector<std::string> ModelSeeds() {
  return {
      std::string("model: {architecture: gpt, layers: 4, hidden: 64, heads: 8, vocab: 100, "
                  "sequence: 32, window: 8, full_attention_every: 2, dropout: 0.1}\n") +
          kRest,
      std::string("model: {architecture: llama, layers: 4, hidden: 64, heads: 8, vocab: 100, "
                  "sequence: 32, kv_lora_rank: 8, qk_nope_dim: 4, qk_rope_dim: 4, value_dim: 4, "
                  "experts: 8, experts_per_token: 2, expert_ffn: 32, mtp_layers: 1}\n") +
          "training: {framework: megatron, precision: fp8, micro_batch: 1, global_batch: 8, "
          "recompute: selective, recompute_modules: [moe, layernorm], optimizer: adam, "
          "moe_dispatcher: flex, moe_imbalance: 1.5}\n"
          "parallel: {tensor: 2, sequence_parallel: true, pipeline: 2, first_stage_layers: 1, "
          "expert: 4, context: 2, context_type: a2a}\noverlap: {grad_reduce: true}\n",
      std::string("model: {architecture: llama, layers: 4, hidden: 64, heads: 8, vocab: 100, "
                  "sequence: 32, experts: 8, experts_per_token: 2, expert_ffn: 32, mtp_layers: 1, "
                  "window: 8, full_attention_first: 2}\n") +
          "training: {framework: megatron, precision: bf16, micro_batch: 1, global_batch: 32, "
          "recompute: none, optimizer: adam}\nparallel: {tensor: 1, pipeline: 2, expert: 8, "
          "layout: "
          "'Et|(t|)*2,tmL'}\noverlap: {expert: true, delay_weight_gradients: true, p2p: true}\n",
      std::string("model: {architecture: llama, layers: 4, hidden: 64, heads: 8, vocab: 100, "
                  "sequence: 32, experts: 4, experts_per_token: 2, expert_ffn: 32, moe_every: 2, "
                  "ffn: 128, shared_expert_ffn: 32}\n") +
          "training: {framework: megatron, precision: bf16, micro_batch: 1, global_batch: 16, "
          "recompute: full, optimizer: adam}\nparallel: {tensor: 4, sequence_parallel: true, "
          "pipeline: 1, expert: 2, expert_tensor: 1}\n"
          "overlap: {tensor: true, tensor_gather: true, tensor_scatter: true, "
          "tensor_scatter_fc2: ring}\n",
      std::string("model: {architecture: llama, layers: 4, hidden: 64, heads: 8, ffn: 160, vocab: "
                  "100, sequence: 32}\n") +
          "training: {framework: fsdp, precision: bf16, micro_batch: 1, global_batch: 16, "
          "recompute: selective, optimizer: adam}\nparallel: {tensor: 1, pipeline: 1}\n"
          "fsdp: {version: 1, replicas: 2, reshard_after_forward: never, gradient_sync: "
          "last-microbatch, reduce_type: bf16, limit_all_gathers: false}\n"
          "memory: {cuda_context: 1 GB, nccl_communicator: 0 B, fragmentation: 0.1}\n",
      std::string("model: {architecture: llama, layers: 4, hidden: 64, heads: 8, ffn: 160, vocab: "
                  "100, sequence: 32}\n") +
          "training: {framework: deepspeed, precision: fp16, micro_batch: 1, global_batch: 16, "
          "recompute: full, optimizer: adam}\nparallel: {tensor: 1, pipeline: 1}\n"
          "zero: {stage: 3, prefetch_bucket_size: 5000, max_reuse_distance: 0, offload_param: "
          "none}\n"};
}

void HfConfig(const std::string& input) {
  for (const bool strict : {false, true}) {
    ImportNotes notes;
    Result<YamlNode> model = ModelFromHfConfig(input, "f", strict, &notes);
    CheckPrintable(model);
    if (!model.ok()) continue;
    Result<YamlNode> root = ParseYaml(std::string("model: {sequence: 64}\n") + kRest, "rest");
    CHECK(root.ok());
    YamlNode& section = root->entries[0].second;
    for (const auto& entry : model->entries) {
      if (section.Find(entry.first.scalar) == nullptr) section.entries.push_back(entry);
    }
    CheckJob(TrainingJobFromTree(*root, "f"));
  }
}

void OverlapConfig(const std::string& input) {
  for (const bool strict : {false, true}) {
    ImportNotes notes;
    const Result<YamlNode> overlap = OverlapFromConfig(input, "f", strict, &notes);
    CheckPrintable(overlap);
    if (!overlap.ok()) continue;
    Result<YamlNode> root = ParseYaml(
        std::string("model: {architecture: gpt, layers: 2, hidden: 64, heads: 8, vocab: 100, "
                    "sequence: 32}\n") +
            kRest,
        "rest");
    CHECK(root.ok());
    YamlNode section = root->entries.back().first;
    section.scalar = "overlap";
    root->entries.emplace_back(section, *overlap);
    CheckJob(TrainingJobFromTree(*root, "f"));
  }
}

std::vector<std::string> OverlapConfigSeeds() {
  return {
      "proj_fprop: {method: pipeline, num_sm: 24, cga_size: 2, num_splits: 4, set_sm_margin: 1}\n"
      "fc2_fprop: {method: ring_exchange, aggregate: 1}\nqkv_dgrad: {method: bulk}\n",
      "fc2_fprop:\n  method: pipeline\n  fp8_buf: 0\n  atomic_gemm: 1\n"};
}

std::vector<std::string> HfConfigSeeds() {
  return {
      R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "hidden_act": "silu",
 "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100})",
      R"({"model_type": "deepseek_v3", "num_hidden_layers": 4, "hidden_size": 64,
 "num_attention_heads": 8, "intermediate_size": 128, "vocab_size": 100, "kv_lora_rank": 8,
 "q_lora_rank": null, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 4,
 "n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 8,
 "first_k_dense_replace": 1, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1})",
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "head_dim": 8,
 "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8, "intermediate_size": 128,
 "vocab_size": 100, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}})",
      R"({"model_type": "qwen2", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8,
 "num_key_value_heads": null, "intermediate_size": 128, "vocab_size": 100, "sliding_window": 8,
 "use_sliding_window": true, "max_window_layers": 2, "architectures": ["Qwen2ForCausalLM"]})",
      R"({"model_type": "vit", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
 "intermediate_size": 128, "image_size": 32, "patch_size": 8, "id2label": {"0": "a", "1": "b"}})"};
}

void MegatronArguments(const std::string& input) {
  for (const bool strict : {false, true}) {
    ImportNotes notes;
    const Result<YamlNode> root =
        MegatronJob(input, "f", {{"GIVEN", "1"}}, {strict, !strict}, &notes);
    CheckPrintable(root);
    if (root.ok()) CheckJob(TrainingJobFromTree(*root, "f"));
  }
}

std::vector<std::string> MegatronArgumentsSeeds() {
  return {
      "#!/bin/bash\nN=${NODES:-2}\nW=$((N * 8))\nif [ -n \"$X\" ]; then Y=1; fi\n"
      "A=(\n  --num-layers 4 # four\n  --hidden-size 64\n)\nB=\" --bf16 \\\n --lr 1e-4\"\n"
      "cat <<EOF > x\n--no\nEOF\n"
      "sh -c \"torchrun --nnodes $N --nproc_per_node=8 pretrain_gpt.py ${A[@]} $B "
      "--num-attention-heads 8 --seq-length 32 --max-position-embeddings 32 --vocab-size '100' "
      "--micro-batch-size $GIVEN\" 2>&1 | tee `date`\n",
      "set -- 4 8; f() { local n=$1; X=${X:-$((n << 1))}; return 0; }; f $1 && declare -i Y=010\n"
      "for i in {1..3} *; do case $i in [1-2]) A[i]=${i%%1*} ;; *) break ;; esac; done\n"
      "while ((Y--)); do read -r a b <<< \"1 $X\"; printf -v Z %03d 7; done | cat\n"
      "if [[ $X =~ a|b || -f x ]]; then eval 'Z=1'; else source y; fi; trap 'Z=2' USR1\n"
      "torchrun pretrain_gpt.py --num-layers $X \"${A[@]:1}\" ${#A[@]} ${!X} ${Y//1/&} ~ $'a\\n'\n",
      "--num-layers 4 --hidden-size 64 --num-attention-heads 8 --seq-length 32 --bf16 "
      "--max-position-embeddings=32 --vocab-size 100 --micro-batch-size 1 --global-batch-size 8 "
      "--num-experts 8 --moe-layer-freq ([0]*1+[1]*3) --multi-latent-attention --window-size (8,0) "
      "--recompute-granularity selective --recompute-modules moe mlp --swiglu --fp8-format "
      "hybrid\n",
      "--num-layers 4 --hidden-size 64 --num-attention-heads 8 --seq-length 32 --bf16 "
      "--max-position-embeddings=32 --vocab-size 100 --micro-batch-size 1 --global-batch-size 8 "
      "--num-experts 8 --expert-model-parallel-size 4 --moe-token-dispatcher-type alltoall "
      "--overlap-moe-expert-parallel-comm --delay-wgrad-compute --pipeline-model-parallel-size 2 "
      "--pipeline-model-parallel-layout 'Et|t|t|tL' --window-size (8,0) --window-attn-skip-freq "
      "([0]*2+[1]*2) --disable-bias-linear\n"};
}

}  // namespace drydock::fuzz
