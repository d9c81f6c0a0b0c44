#include "workload-gen/import/recipe/bridge_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/base/scan.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

using Use = RecipeKey::Use;
using Values = std::map<std::string, std::string>;

// The fields of each section that are read here.
struct SectionFields {
  const char* section;
  const char* names;
};
constexpr SectionFields kComputedFields[] = {
    {"mixed_precision",
     "fp32 fp16 bf16 autocast_enabled grad_reduce_in_fp32 fp8 fp8_recipe "
     "first_last_layers_bf16 fp8_wgrad fp8_dot_product_attention fp8_multi_head_attention "
     "fp8_param fp8_param_gather fp4 fp4_recipe fp4_param fp4_param_gather loss_scale "
     "num_layers_at_start_in_bf16 num_layers_at_end_in_bf16 reuse_grad_buf_for_mxfp8_param_ag"},
    {"comm_overlap",
     "tp_comm_overlap overlap_p2p_comm overlap_grad_reduce overlap_param_gather "
     "overlap_param_gather_with_optimizer_step align_param_gather bucket_size "
     "defer_embedding_wgrad_compute wgrad_deferral_limit overlap_moe_expert_parallel_comm "
     "delay_wgrad_compute data_parallel_size"},
    {"model",
     "fp16 bf16 fp8 fp8_recipe first_last_layers_bf16 fp8_wgrad "
     "fp8_dot_product_attention fp8_multi_head_attention fp8_param fp8_param_gather fp4 fp4_recipe "
     "fp4_param fp4_param_gather num_layers_at_start_in_bf16 num_layers_at_end_in_bf16 "
     "tp_comm_overlap overlap_p2p_comm defer_embedding_wgrad_compute wgrad_deferral_limit "
     "overlap_moe_expert_parallel_comm delay_wgrad_compute"},
    {"ddp",
     "grad_reduce_in_fp32 fp8_param_gather fp4_param_gather reuse_grad_buf_for_mxfp8_param_ag "
     "overlap_grad_reduce overlap_param_gather align_param_gather bucket_size delay_wgrad_compute"},
    {"optimizer",
     "fp16 bf16 fp8_recipe loss_scale reuse_grad_buf_for_mxfp8_param_ag "
     "overlap_param_gather overlap_param_gather_with_optimizer_step"}};
constexpr SectionFields kIgnoredFields[] = {
    {"mixed_precision",
     "params_dtype pipeline_dtype autocast_dtype fp8_margin fp8_amax_history_len "
     "fp8_amax_compute_algo "
     "initial_loss_scale min_loss_scale loss_scale_window hysteresis"},
    {"comm_overlap", "tp_comm_bootstrap_backend batch_p2p_comm"}};

// Names that `mixed_precision` may have in place of settings, with the settings that differ from
// those of bf16_mixed or fp16_mixed.
const std::map<std::string, Values>& Presets() {
  static const std::map<std::string, Values> presets = [] {
    const Values bf16 = {{"bf16", "true"}};
    const Values fp16 = {{"fp16", "true"}, {"grad_reduce_in_fp32", "false"}};
    const Values delayed = {
        {"fp8", "hybrid"}, {"fp8_recipe", "delayed"}, {"fp8_param_gather", "true"}};
    const Values mxfp8 = {{"fp8", "e4m3"},
                          {"fp8_recipe", "mxfp8"},
                          {"fp8_param_gather", "true"},
                          {"reuse_grad_buf_for_mxfp8_param_ag", "true"}};
    const auto edges = [](const char* recipe, const char* start, const char* end) {
      return Values{{"fp8", "hybrid"},
                    {"fp8_recipe", recipe},
                    {"fp8_param_gather", "true"},
                    {"first_last_layers_bf16", "true"},
                    {"num_layers_at_start_in_bf16", start},
                    {"num_layers_at_end_in_bf16", end}};
    };
    const Values blocks = {{"fp8", "hybrid"}, {"fp8_recipe", "blockwise"}};
    const Values nvfp4 = {{"fp4", "e2m1"}, {"fp4_recipe", "nvfp4"}, {"fp4_param_gather", "true"}};
    std::map<std::string, Values> list;
    const auto add = [&list](const char* name, const Values& type, Values more = {}) {
      more.insert(type.begin(), type.end());
      list[name] = std::move(more);
    };
    add("bf16_mixed", bf16);
    add("fp16_mixed", fp16);
    add("bf16_with_fp8_delayed_scaling_mixed", bf16, delayed);
    add("fp16_with_fp8_delayed_scaling_mixed", fp16, delayed);
    add("bf16_with_mxfp8_mixed", bf16, mxfp8);
    add("fp16_with_mxfp8_mixed", fp16, mxfp8);
    add("bf16_with_fp8_current_scaling_mixed", bf16, edges("tensorwise", "1", "1"));
    add("fp16_with_fp8_current_scaling_mixed", fp16, edges("tensorwise", "1", "1"));
    add("nemotron_h_bf16_with_fp8_current_scaling_mixed", bf16, edges("tensorwise", "2", "2"));
    add("nanov2_bf16_with_fp8_current_scaling_mixed", bf16, edges("blockwise", "2", "2"));
    add("bf16_with_fp8_subchannel_scaling_mixed", bf16, blocks);
    add("fp16_with_fp8_subchannel_scaling_mixed", fp16, blocks);
    add("bf16_with_nvfp4_mixed", bf16, nvfp4);
    Values super = nvfp4;
    super["first_last_layers_bf16"] = "true";
    super["num_layers_at_end_in_bf16"] = "14";
    add("nemotron_3_super_bf16_with_nvfp4_mixed", bf16, super);
    return list;
  }();
  return presets;
}

// A section whose settings, given or not, replace those of the same name in other sections.
class ReplacingSection {
 public:
  ReplacingSection(std::string section, std::vector<std::string> replaced, RecipeReader* reader)
      : section_(std::move(section)), replaced_(std::move(replaced)), r_(*reader) {}

  bool given() const { return r_.Has(section_); }
  bool Has(const std::string& name) const { return r_.Has(section_ + "." + name); }

  // Where the value stands: the section, another one, or the file as a whole.
  std::string PathOf(const std::string& name) const {
    if (Has(name)) return section_ + "." + name;
    if (given()) return section_;
    for (const std::string& other : replaced_) {
      if (r_.Has(other + "." + name)) return other + "." + name;
    }
    return replaced_.front() + "." + name;
  }

  // `filled`: what a section that does not state the value sets. `otherwise`: the value without the
  // section.
  std::string Text(const std::string& name, const std::string& filled,
                   const std::string& otherwise) {
    if (!given()) return r_.Text(PathOf(name), otherwise);
    const std::string value = Has(name) ? r_.Text(PathOf(name), filled) : filled;
    for (const std::string& other : replaced_) {
      const std::string path = other + "." + name;
      if (!r_.Has(path) || Same(r_.Text(path), value)) continue;
      r_.Remark(path,
                fmt::format("has no effect: {} sets {}", section_, value.empty() ? "null" : value));
    }
    return value;
  }

  bool IsTrue(const std::string& name, const std::string& filled, const std::string& otherwise) {
    const std::string text = Text(name, filled, otherwise);
    if (Same(text, "true")) return true;
    if (!Same(text, "false") && !text.empty()) {
      r_.Fail(PathOf(name), fmt::format("'{}' is {}; expected true or false", PathOf(name), text));
    }
    return false;
  }

  void AddFlag(const char* argument, const std::string& name, const std::string& filled = "false") {
    if (IsTrue(name, filled, "false")) r_.Add(argument, PathOf(name));
  }

 protected:
  static bool Same(std::string a, std::string b) {
    for (std::string* text : {&a, &b}) {
      if (*text == "True") *text = "true";
      if (*text == "False") *text = "false";
    }
    return a == b;
  }

  const std::string section_;
  const std::vector<std::string> replaced_;
  RecipeReader& r_;
};

class Precision : public ReplacingSection {
 public:
  explicit Precision(RecipeReader* reader)
      : ReplacingSection("mixed_precision", {"model", "ddp", "optimizer"}, reader) {}

  void Add() {
    if (!FindPreset()) return;
    const bool half = True("fp16"), brain = True("bf16");
    if (half) r_.Add("--fp16", PathOf("fp16"));
    if (brain) r_.Add("--bf16", PathOf("bf16"));
    if (True("fp32") && !half && !brain) {
      r_.Fail(PathOf("fp32"), "training in fp32 is not generated; give bf16 or fp16");
    }
    CheckAutocast();
    AddGradients(half, brain);
    AddEights();
    AddFours();
    AddEdges();
    if (const std::string scale = Value("loss_scale"); !scale.empty()) {
      r_.Add("--loss-scale", scale, PathOf("loss_scale"));
    }
    Flag("--reuse-grad-buf-for-mxfp8-param-ag", "reuse_grad_buf_for_mxfp8_param_ag");
  }

 private:
  // Finds the settings of a name. Returns false, and reports, if there are none.
  bool FindPreset() {
    std::string name = r_.Text(section_);
    if (name.empty()) return true;
    std::replace(name.begin(), name.end(), '-', '_');
    const auto found = Presets().find(name);
    if (found != Presets().end()) {
      preset_ = found->second;
      return true;
    }
    std::vector<std::string> names;
    for (const auto& [each, values] : Presets()) names.push_back(each);
    r_.Fail(section_,
            fmt::format("'{}' is not a mixed precision of Megatron-Bridge{}; valid values "
                        "are {}",
                        name, DidYouMean(name, names), Join(names)));
    return false;
  }

  // `otherwise`: the default of the section; without the section, `plain`.
  std::string Value(const std::string& name, const std::string& otherwise = "",
                    const std::string& plain = "") {
    const auto preset = preset_.find(name);
    return Text(name, preset == preset_.end() ? otherwise : preset->second, plain);
  }
  bool True(const std::string& name, const std::string& otherwise = "false",
            const std::string& plain = "false") {
    const auto preset = preset_.find(name);
    return IsTrue(name, preset == preset_.end() ? otherwise : preset->second, plain);
  }
  void Flag(const char* argument, const std::string& name) {
    if (True(name)) r_.Add(argument, PathOf(name));
  }

  void CheckAutocast() {
    if (True("autocast_enabled")) {
      r_.Fail(
          PathOf("autocast_enabled"),
          fmt::format("'{}' is true: casts of PyTorch's autocast are not generated; write false",
                      PathOf("autocast_enabled")));
    }
  }

  void AddGradients(bool half, bool brain) {
    const char* name = "grad_reduce_in_fp32";
    const bool full = True(name, "true");
    if (full && half) r_.Add("--accumulate-allreduce-grads-in-fp32", PathOf(name));
    if (!full && brain) r_.Add("--grad-reduce-in-bf16", PathOf(name));
  }

  // Without a format, nothing reads the other settings.
  void AddEights() {
    const std::string format = Value("fp8");
    if (format.empty()) return;
    r_.Add("--fp8-format", format, PathOf("fp8"));
    r_.Add("--fp8-recipe", Value("fp8_recipe", "tensorwise", "delayed"), PathOf("fp8_recipe"));
    if (Gathers("fp8_param", "fp8_param_gather")) {
      r_.Add("--fp8-param-gather", PathOf("fp8_param_gather"));
    }
    if (!True("fp8_wgrad", "true", "true")) r_.Add("--no-fp8-wgrad", PathOf("fp8_wgrad"));
    Flag("--fp8-dot-product-attention", "fp8_dot_product_attention");
    Flag("--fp8-multi-head-attention", "fp8_multi_head_attention");
  }

  void AddFours() {
    const std::string format = Value("fp4");
    if (format.empty()) return;
    r_.Add("--fp4-format", format, PathOf("fp4"));
    r_.Add("--fp4-recipe", Value("fp4_recipe", "nvfp4", "nvfp4"), PathOf("fp4_recipe"));
    if (Gathers("fp4_param", "fp4_param_gather")) {
      r_.Add("--fp4-param-gather", PathOf("fp4_param_gather"));
    }
  }

  // Megatron-Bridge keeps both alike; of two that differ, what it takes depends on their order.
  bool Gathers(const char* parameters, const char* gather) {
    const bool gathers = True(gather);
    if (!given()) return gathers || True(parameters);
    if (Has(parameters) && True(parameters) != gathers) {
      r_.Fail(PathOf(parameters), fmt::format("'{}.{}' differs from '{}': give both alike",
                                              section_, parameters, gather));
    }
    return gathers;
  }

  void AddEdges() {
    if (Value("fp8").empty() && Value("fp4").empty()) return;
    if (!True("first_last_layers_bf16")) return;
    r_.Add("--first-last-layers-bf16", PathOf("first_last_layers_bf16"));
    const std::pair<const char*, const char*> ends[] = {
        {"num_layers_at_start_in_bf16", "--num-layers-at-start-in-bf16"},
        {"num_layers_at_end_in_bf16", "--num-layers-at-end-in-bf16"}};
    for (const auto& [name, argument] : ends) r_.Add(argument, Value(name, "0", "1"), PathOf(name));
  }

  Values preset_;
};

class Overlap : public ReplacingSection {
 public:
  explicit Overlap(RecipeReader* reader)
      : ReplacingSection("comm_overlap", {"model", "ddp", "optimizer"}, reader) {}

  void Add() {
    AddTensor();
    const bool chunked = Number("model.virtual_pipeline_model_parallel_size") > 1;
    const bool staged = Number("model.pipeline_model_parallel_size") > 1;
    const char* sends = "overlap_p2p_comm";
    const bool overlaps = IsTrue(sends, chunked && staged ? "true" : "false", "false");
    if (chunked && !overlaps) r_.Add("--no-overlap-p2p-communication", PathOf(sends));
    AddFlag("--overlap-moe-expert-parallel-comm", "overlap_moe_expert_parallel_comm");
    AddFlag("--delay-wgrad-compute", "delay_wgrad_compute");
    AddDeferral();
    AddGradients(chunked && staged);
  }

 private:
  int64_t Number(const char* path) {
    return r_.Has(path) ? WholeNumber(r_.Text(path)).value_or(1) : 1;
  }

  void AddTensor() {
    const char* name = "tp_comm_overlap";
    if (!IsTrue(name, "false", "false")) return;
    const bool split = Number("model.tensor_model_parallel_size") > 1;
    if (given() && (!split || !r_.IsTrue("model.sequence_parallel"))) {
      return r_.Remark(PathOf(name),
                       "has no effect without sequence_parallel and a "
                       "tensor_model_parallel_size above 1");
    }
    r_.Add("--tp-comm-overlap", PathOf(name));
  }

  void AddDeferral() {
    const char* name = "defer_embedding_wgrad_compute";
    if (!IsTrue(name, "false", "false")) return;
    r_.Add("--defer-embedding-wgrad-compute", PathOf(name));
    const std::string limit = Text("wgrad_deferral_limit", "-1", "0");
    if (limit != "-1" && limit != "0") {
      r_.Add("--wgrad-deferral-limit", limit, PathOf("wgrad_deferral_limit"));
    }
  }

  // Without the distributed optimizer, the section does not change how gradients are reduced.
  void AddGradients(bool interleaved) {
    const bool distributed = r_.IsTrue("ddp.use_distributed_optimizer") ||
                             r_.IsTrue("optimizer.use_distributed_optimizer") ||
                             r_.IsTrue("ddp.use_megatron_fsdp") ||
                             r_.IsTrue("dist.use_megatron_fsdp");
    if (given() && !distributed) return AddOwnGradients();
    const bool several =
        !Has("data_parallel_size") || Number("comm_overlap.data_parallel_size") > 1;
    const std::string on = several ? "true" : "false";
    AddFlag("--overlap-grad-reduce", "overlap_grad_reduce", on);
    AddFlag("--overlap-param-gather", "overlap_param_gather", on);
    AddFlag("--overlap-param-gather-with-optimizer-step",
            "overlap_param_gather_with_optimizer_step");
    const bool aligned =
        IsTrue("align_param_gather", several && interleaved ? "true" : "false", "false");
    if (interleaved && !aligned) r_.Add("--no-align-param-gather", PathOf("align_param_gather"));
    const std::string bucket = Text("bucket_size", several ? "134217728" : "", "");
    if (!bucket.empty()) r_.Add("--ddp-bucket-size", bucket, PathOf("bucket_size"));
  }

  void AddOwnGradients() {
    for (const char* name : {"overlap_grad_reduce", "overlap_param_gather", "bucket_size"}) {
      if (Has(name)) r_.Remark(PathOf(name), "has no effect without ddp.use_distributed_optimizer");
    }
    if (r_.IsTrue("ddp.overlap_grad_reduce"))
      r_.Add("--overlap-grad-reduce", "ddp.overlap_grad_reduce");
    r_.AddValue("--ddp-bucket-size", "ddp.bucket_size");
  }
};

std::vector<RecipeKey> MakeKeys() {
  std::vector<RecipeKey> keys = {{"mixed_precision", Use::kComputed, "", ""}};
  const auto add = [&keys](const SectionFields& fields, Use use) {
    std::istringstream names(fields.names);
    for (std::string name; names >> name;) {
      keys.push_back({fmt::format("{}.{}", fields.section, name), use, "", ""});
    }
  };
  for (const SectionFields& fields : kComputedFields) add(fields, Use::kComputed);
  for (const SectionFields& fields : kIgnoredFields) add(fields, Use::kIgnored);
  keys.push_back({"comm_overlap.tp_comm_overlap_cfg", Use::kComputed, "", ""});
  keys.push_back({"model.tp_comm_overlap_cfg", Use::kComputed, "", ""});
  return keys;
}

}  // namespace

const std::vector<RecipeKey>& BridgeSettingKeys() {
  static const std::vector<RecipeKey> keys = MakeKeys();
  return keys;
}

void AddBridgePrecision(RecipeReader* reader) { Precision(reader).Add(); }
void AddBridgeOverlap(RecipeReader* reader) { Overlap(reader).Add(); }

}  // namespace drydock
