#include "workload-gen/import/megatron/megatron_job.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "workload-gen/import/megatron/megatron_reader.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

struct Rename {
  const char* argument;
  const char* key;
};

// A value that stands in model.yaml as it is.
constexpr Rename kSame[] = {
    {"--num-layers", "model.layers"},
    {"--encoder-num-layers", "model.layers"},
    {"--hidden-size", "model.hidden"},
    {"--num-attention-heads", "model.heads"},
    {"--kv-channels", "model.head_dim"},
    {"--seq-length", "model.sequence"},
    {"--encoder-seq-length", "model.sequence"},
    {"--mtp-num-layers", "model.mtp_layers"},
    {"--moe-ffn-hidden-size", "model.expert_ffn"},
    {"--moe-shared-expert-intermediate-size", "model.shared_expert_ffn"},
    {"--micro-batch-size", "training.micro_batch"},
    {"--global-batch-size", "training.global_batch"},
    {"--ddp-bucket-size", "training.bucket_elements"},
    {"--moe-expert-capacity-factor", "training.moe_capacity_factor"},
    {"--tensor-model-parallel-size", "parallel.tensor"},
    {"--pipeline-model-parallel-size", "parallel.pipeline"},
    {"--pipeline-model-parallel-layout", "parallel.layout"},
    {"--decoder-first-pipeline-num-layers", "parallel.first_stage_layers"},
    {"--decoder-last-pipeline-num-layers", "parallel.last_stage_layers"},
    {"--microbatch-group-size-per-virtual-pipeline-stage", "parallel.microbatch_group"},
    {"--context-parallel-size", "parallel.context"},
    {"--expert-model-parallel-size", "parallel.expert"},
    {"--expert-tensor-parallel-size", "parallel.expert_tensor"},
};

struct Switch {
  const char* argument;
  const char* key;
  const char* value;
};

constexpr Switch kSwitches[] = {
    {"--add-qkv-bias", "model.qkv_bias", "true"},
    {"--qk-layernorm", "model.qk_norm", "true"},
    {"--moe-router-enable-expert-bias", "model.router_bias", "true"},
    {"--moe-shared-expert-gate", "model.shared_expert_gate", "true"},
    {"--use-distributed-optimizer", "training.distributed_optimizer", "true"},
    {"--tp-only-amax-red", "training.tp_only_amax_red", "true"},
    {"--no-gradient-accumulation-fusion", "training.gradient_accumulation_fusion", "false"},
    {"--moe-pad-expert-input-to-capacity", "training.moe_pad_to_capacity", "true"},
    {"--sequence-parallel", "parallel.sequence_parallel", "true"},
    {"--account-for-embedding-in-pipeline-split", "parallel.account_for_embedding", "true"},
    {"--account-for-loss-in-pipeline-split", "parallel.account_for_loss", "true"},
    {"--use-tp-pp-dp-mapping", "parallel.rank_order", "tp-cp-ep-pp-dp"},
    {"--overlap-grad-reduce", "overlap.grad_reduce", "true"},
    {"--overlap-param-gather", "overlap.param_gather", "true"},
    {"--tp-comm-overlap", "overlap.tensor", "true"},
    {"--disable-tp-comm-overlap-ag", "overlap.tensor_gather", "false"},
    {"--disable-tp-comm-overlap-rs", "overlap.tensor_scatter", "false"},
    {"--disable-tp-comm-split-ag", "overlap.tensor_gather", "false"},  // their names until 2024
    {"--disable-tp-comm-split-rs", "overlap.tensor_scatter", "false"},
    {"--disable-tp-comm-bulk-dgrad", "overlap.tensor_bulk_dgrad", "false"},
    {"--disable-tp-comm-bulk-wgrad", "overlap.tensor_bulk_wgrad", "false"},
    {"--overlap-moe-expert-parallel-comm", "overlap.expert", "true"},
    {"--delay-wgrad-compute", "overlap.delay_weight_gradients", "true"},
    {"--moe-shared-expert-overlap", "overlap.shared_expert", "true"},
};

constexpr const char* kRequired[] = {
    "--hidden-size",
    "--num-attention-heads",
    "--max-position-embeddings",
    "--micro-batch-size",
};

class JobMaker {
 public:
  JobMaker(const LaunchLine& line, bool strict, MegatronReader* reader, ImportNotes* notes)
      : line_(line), strict_(strict), r_(*reader), notes_(*notes) {}

  void Make() {
    CheckScript();
    CheckRequired();
    SetDefaults();
    for (const Rename& rename : kSame) {
      if (r_.Has(rename.argument)) r_.Set(rename.key, r_.Text(rename.argument), rename.argument);
    }
    for (const Switch& flag : kSwitches) {
      if (r_.Has(flag.argument)) r_.Set(flag.key, flag.value, flag.argument);
    }
    ReadMegatronModel(&r_);
    SetTraining();
    SetRecompute();
    SetParallel();
    SetOverlap();
  }

 private:
  void CheckScript() {
    const std::string name = BaseName(line_.script.text);
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("inference") || has("generat") || has("server")) {
      r_.FailAt(line_.script, fmt::format("'{}': {}", name, kInferenceText));
    }
    for (const char* other : {"pretrain_t5", "pretrain_vision", "pretrain_mamba", "pretrain_retro",
                              "pretrain_ict", "pretrain_vlm"}) {
      if (!name.starts_with(other)) continue;
      r_.FailAt(line_.script,
                fmt::format("'{}': pretrain_gpt.py and pretrain_bert.py are understood", name));
    }
    if (name.starts_with("pretrain_bert")) {
      r_.Set("model.causal", "false");
      notes_.remarks.push_back(
          "of BERT, token types, pooler and the head's dense layer are left out");
    }
    if (!line_.nccl_settings.empty()) {
      notes_.remarks.push_back(
          fmt::format("{}: NCCL's settings are taken from cluster.topo (nccl.settings) alone",
                      Join(line_.nccl_settings)));
    }
  }

  void CheckRequired() {
    if (!r_.Has("--num-layers") && !r_.Has("--encoder-num-layers")) r_.Lacks("--num-layers");
    if (!r_.Has("--seq-length") && !r_.Has("--encoder-seq-length")) r_.Lacks("--seq-length");
    for (const char* argument : kRequired) {
      if (!r_.Has(argument)) r_.Lacks(argument);
    }
  }

  // What Megatron assumes where it differs from model.yaml's own defaults.
  void SetDefaults() {
    r_.Set("model.architecture", "gpt");
    r_.Set("model.dropout", r_.Text("--hidden-dropout", "0.1"), "--hidden-dropout");
    r_.Set("model.attention_dropout", r_.Text("--attention-dropout", "0.1"), "--attention-dropout");
    r_.Set("training.framework", "megatron");
    r_.Set("training.optimizer", "adam");
    r_.Set("parallel.tensor", "1");
    r_.Set("parallel.pipeline", "1");
  }

  void SetTraining() {
    SetPrecision();
    SetBatch();
    SetGraphs();
    if (r_.Has("--optimizer") && r_.Text("--optimizer") != "adam") {
      r_.Fail("--optimizer", fmt::format("'{}': only adam is generated", r_.Text("--optimizer")));
    }
    const bool unfused = r_.Text("--attention-backend") == "unfused" ||
                         (r_.Text("--transformer-impl") == "local" && !r_.Has("--use-flash-attn"));
    r_.Set("training.kernels", unfused ? "unfused" : "fused");
    if (r_.Has("--clip-grad") &&
        r_.Text("--clip-grad").find_first_of("123456789") == std::string::npos) {
      r_.Set("training.gradient_clipping", "false", "--clip-grad");
    }
    if (r_.Has("--cross-entropy-loss-fusion")) {
      r_.Set("training.cross_entropy_fusion", "native", "--cross-entropy-loss-fusion");
      r_.Choose("--cross-entropy-fusion-impl", "training.cross_entropy_fusion",
                {{"native", "native"}, {"te", "te"}});
    }
    if (r_.Has("--use-nccl-ub")) {
      const bool plain = r_.Has("--disable-symmetric-registration");
      r_.Set("training.gradient_buffers", plain ? "registered" : "symmetric", "--use-nccl-ub");
    }
  }

  void SetGraphs() {
    const bool old = r_.Has("--enable-cuda-graph") || r_.Has("--external-cuda-graph");
    if (!old && r_.Text("--cuda-graph-impl", "none") == "none") return;
    r_.Set("training.cuda_graphs", "layers", "--cuda-graph-impl");
    if (r_.Text("--cuda-graph-scope") == "attn") {
      notes_.remarks.push_back("--cuda-graph-scope attn: whole layers are taken for graphs");
      return;
    }
    r_.Choose("--cuda-graph-scope", "training.cuda_graphs",
              {{"full", "layers"}, {"full_iteration", "full"}});
  }

  void SetPrecision() {
    const char* type = r_.Has("--bf16") ? "--bf16" : r_.Has("--fp16") ? "--fp16" : nullptr;
    if (type == nullptr) return r_.Lacks("--bf16 or --fp16", ": training in fp32 is not generated");
    if (r_.Has("--bf16") && r_.Has("--fp16")) r_.Fail("--fp16", "--fp16 excludes --bf16");
    r_.Set("training.precision", r_.Has("--bf16") ? "bf16" : "fp16", type);
    if (r_.Has("--fp8-format")) {
      if (!r_.Has("--bf16")) r_.Fail("--fp8-format", "--fp8-format needs --bf16");
      r_.Set("training.precision", "fp8", "--fp8-format");
    }
    if (r_.Has("--bf16") &&
        (r_.Has("--grad-reduce-in-bf16") || r_.Text("--main-grads-dtype") == "bf16")) {
      r_.Set("training.gradient_type", "bf16");
    }
    if (r_.Has("--fp16") && !r_.Has("--accumulate-allreduce-grads-in-fp32")) {
      r_.Set("training.gradient_type", "fp16", "--fp16");
    }
    // Dynamic loss scaling looks for overflow itself.
    if (r_.Has("--no-check-for-nan-in-loss-and-grad") ||
        (r_.Has("--fp16") && !r_.Has("--loss-scale"))) {
      r_.Set("training.check_gradients", "false");
    }
  }

  void SetBatch() {
    if (r_.Has("--global-batch-size")) return;
    const auto size = [&](const char* argument) { return r_.Number(argument).value_or(1); };
    const int64_t model = size("--tensor-model-parallel-size") *
                          size("--pipeline-model-parallel-size") * size("--context-parallel-size");
    if (line_.gpus == 0 || line_.gpus % model != 0) {
      return r_.Lacks("--global-batch-size",
                      " and the launcher's line does not tell how many GPUs there are");
    }
    r_.Set("training.global_batch",
           std::to_string(size("--micro-batch-size") * line_.gpus / model));
  }

  void SetRecompute() {
    r_.Set("training.recompute", "none");
    r_.Choose("--recompute-granularity", "training.recompute",
              {{"full", "full"}, {"selective", "selective"}});
    if (r_.Has("--recompute-activations")) {
      r_.Set("training.recompute", "selective", "--recompute-activations");
    }
    if (r_.Has("--recompute-method")) {
      r_.Set("training.recompute_method", r_.Text("--recompute-method"), "--recompute-method");
    } else if (r_.Text("--recompute-granularity") == "full") {
      r_.Fail("--recompute-granularity", "full needs --recompute-method uniform or block");
    }
    if (r_.Has("--recompute-num-layers")) {
      r_.Set("training.recompute_layers", r_.Text("--recompute-num-layers"),
             "--recompute-num-layers");
    }
    if (r_.Has("--recompute-modules") || r_.Has("--moe-layer-recompute")) SetModules();
  }

  void SetModules() {
    std::vector<std::string> modules;
    const char* argument =
        r_.Has("--recompute-modules") ? "--recompute-modules" : "--moe-layer-recompute";
    for (const ScriptWord& value : r_.Values(argument)) modules.push_back(value.text);
    if (r_.Has("--moe-layer-recompute")) {
      modules.emplace_back("moe");
      r_.Set("training.recompute", "selective", "--moe-layer-recompute");
    }
    const ScriptWord& place = r_.Place(argument);
    r_.tree.SetList("training.recompute_modules", modules, place.location, place.source_line);
  }

  void SetParallel() {
    if (r_.Text("--tensor-model-parallel-size", "1") == "1" && r_.Has("--sequence-parallel")) {
      r_.Set("parallel.sequence_parallel", "false", "--sequence-parallel");
      notes_.remarks.push_back("--sequence-parallel without tensor parallelism is nothing");
    }
    SetContext();
    const bool layout = r_.Has("--pipeline-model-parallel-layout");
    const std::optional<int64_t> chunks = layout ? ChunksOfLayout() : Chunks();
    if (!chunks.has_value()) return;
    if (!layout) r_.Set("parallel.virtual_pipeline", std::to_string(*chunks));
    if (*chunks > 1 && !r_.Has("--no-overlap-p2p-communication")) r_.Set("overlap.p2p", "true");
  }

  void SetContext() {
    if (!r_.Has("--cp-comm-type")) return;
    const std::vector<ScriptWord>& types = r_.Values("--cp-comm-type");
    if (types.size() != 1) {
      return r_.Fail("--cp-comm-type", "one type for all layers is generated");
    }
    r_.Choose(
        "--cp-comm-type", "parallel.context_type",
        {{"p2p", "p2p"}, {"a2a", "a2a"}, {"allgather", "allgather"}, {"all_gather", "allgather"}});
  }

  // The file is often not at hand where a script is read.
  void SetOverlap() {
    const char* argument = "--tp-comm-overlap-cfg";
    if (!r_.Has(argument)) return;
    YamlNode from;
    from.scalar = r_.Text(argument);
    from.location = r_.Place(argument).location;
    std::error_code ignored;
    if (std::filesystem::exists(PathFrom(from), ignored)) {
      return r_.Set("overlap.from", from.scalar, argument);
    }
    const std::string what = fmt::format("{} (there is no '{}')", argument, PathFrom(from));
    if (strict_) return r_.Fail(argument, "not modelled: " + what);
    notes_.unmodelled.push_back(what);
  }

  // The layout says it, and excludes what else would.
  std::optional<int64_t> ChunksOfLayout() {
    const char* layout = "--pipeline-model-parallel-layout";
    for (const char* other :
         {"--num-virtual-stages-per-pipeline-rank", "--num-layers-per-virtual-pipeline-stage"}) {
      if (r_.Has(other)) r_.Fail(other, fmt::format("excludes {}", layout));
    }
    const size_t stages = ExpandPipelineLayout(r_.Text(layout)).stages.size();
    return static_cast<int64_t>(stages) / r_.Number("--pipeline-model-parallel-size").value_or(1);
  }

  // Virtual stages a rank.
  std::optional<int64_t> Chunks() {
    const char* by_stage = "--num-virtual-stages-per-pipeline-rank";
    const char* by_layers = "--num-layers-per-virtual-pipeline-stage";
    if (r_.Has(by_stage)) {
      if (r_.Has(by_layers)) r_.Fail(by_layers, fmt::format("excludes {}", by_stage));
      if (!r_.Number(by_stage).has_value()) r_.Fail(by_stage, "expected a whole number from 1 on");
      return r_.Number(by_stage);
    }
    if (!r_.Has(by_layers)) return std::nullopt;
    const std::optional<int64_t> each = r_.Number(by_layers);
    const std::optional<int64_t> layers =
        r_.Number(r_.Has("--num-layers") ? "--num-layers" : "--encoder-num-layers");
    if (!each.has_value()) r_.Fail(by_layers, "expected a whole number from 1 on");
    if (!each.has_value() || !layers.has_value()) return std::nullopt;
    const int64_t pipeline = r_.Number("--pipeline-model-parallel-size").value_or(1);
    const int64_t counted = *layers +
                            (r_.Has("--account-for-embedding-in-pipeline-split") ? 1 : 0) +
                            (r_.Has("--account-for-loss-in-pipeline-split") ? 1 : 0);
    if (counted % (pipeline * *each) != 0) {
      r_.Fail(by_layers, fmt::format("{} layers are not divisible by {} stages x {} layers",
                                     counted, pipeline, *each));
      return std::nullopt;
    }
    return counted / pipeline / *each;
  }

  const LaunchLine& line_;
  const bool strict_;
  MegatronReader& r_;
  ImportNotes& notes_;
};

}  // namespace

Result<YamlNode> MegatronJob(const std::string& text, const std::string& file_name,
                             const std::map<std::string, std::string>& variables, bool strict,
                             ImportNotes* notes) {
  ASSIGN_OR_RETURN(const LaunchLine line, ReadLaunchScript(text, file_name, variables));
  Diagnostics diagnostics;
  GivenArguments given = SortMegatronArguments(line.arguments, strict, notes, &diagnostics);
  MegatronReader reader(file_name, std::move(given), &diagnostics);
  JobMaker(line, strict, &reader, notes).Make();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return reader.tree.root();
}

}  // namespace drydock
