// The keys of experts: of the sections `model` and `training`.
#include <fmt/format.h>

#include "workload-gen/import/megatron/computed_keys.h"
#include "workload-gen/import/tree/layer_pattern.h"
#include "workload-gen/job/model_shape.h"

namespace drydock {
namespace {

class ComputedExperts {
 public:
  explicit ComputedExperts(MegatronReader* reader) : r_(*reader) {}

  void Set() {
    if (!r_.Has("--num-experts") || r_.Text("--num-experts") == "0") return DropExperts();
    r_.Set("model.experts", r_.Text("--num-experts"), "--num-experts");
    r_.Set("model.experts_per_token", r_.Text("--moe-router-topk", "2"),
           r_.Has("--moe-router-topk") ? "--moe-router-topk" : "--num-experts");
    SetExpertLayers();
    r_.Set("training.moe_dispatcher", "allgather");
    r_.Choose("--moe-token-dispatcher-type", "training.moe_dispatcher",
              {{"allgather", "allgather"}, {"alltoall", "alltoall"}, {"flex", "flex"}});
    SetFlexBackend();
    r_.Set("training.moe_aux_loss", HasAuxiliaryLoss() ? "true" : "false");
    r_.Set("training.moe_grouped_gemm", r_.Has("--moe-grouped-gemm") ? "true" : "false");
    SetLoads();
    // The older grouped_gemm loops over experts as Transformer Engine does.
    if (r_.Has("--moe-use-legacy-grouped-gemm")) {
      r_.Set("training.moe_grouped_kernel", "per-expert", "--moe-use-legacy-grouped-gemm");
    }
  }

 private:
  // The flex dispatcher takes DeepEP unless told otherwise; without that dispatcher, Megatron-LM
  // ignores the backend and its SMs.
  void SetFlexBackend() {
    if (r_.Text("--moe-token-dispatcher-type") != "flex") return;
    r_.Choose("--moe-flex-dispatcher-backend", "training.moe_dispatcher",
              {{"deepep", "flex"}, {"hybridep", "hybridep"}});
    const bool hybrid = r_.Text("--moe-flex-dispatcher-backend") == "hybridep";
    const char* sms = hybrid ? "--moe-hybridep-num-sms" : "--moe-deepep-num-sms";
    if (r_.Has(sms)) r_.Set("training.moe_dispatch_sms", r_.Text(sms), sms);
  }

  // Random scores in place of the router's. They decide no time where all experts of a rank, or
  // all ranks, get the same number of tokens.
  void SetLoads() {
    const char* random = "--moe-router-force-load-balancing";
    const bool alone = r_.Text("--expert-model-parallel-size", "1") == "1";
    if (!r_.Has(random) || alone || r_.Has("--moe-pad-expert-input-to-capacity")) return;
    r_.Set("training.moe_expert_loads", "random", random);
  }

  // Without experts, Megatron-LM ignores their arguments.
  void DropExperts() {
    for (const char* key :
         {"model.expert_ffn", "model.shared_expert_ffn", "model.router_bias",
          "model.shared_expert_gate", "model.expert_latent", "training.moe_capacity_factor",
          "training.moe_pad_to_capacity", "training.moe_router_fusion", "parallel.expert_tensor",
          "overlap.shared_expert"}) {
      r_.tree.Unset(key);
    }
  }

  void SetExpertLayers() {
    const char* argument = "--moe-layer-freq";
    if (!r_.Has(argument)) return;
    const std::string text = r_.Text(argument);
    if (text.find('[') == std::string::npos) return r_.Set("model.moe_every", text, argument);
    const std::optional<std::vector<int>> list = ExpandPattern(text, kMaxLayers);
    std::optional<ExpertPattern> pattern;
    if (list.has_value()) pattern = AsExpertPattern(*list);
    if (!pattern.has_value()) {
      return r_.Fail(argument, fmt::format("'{}': expected dense layers at the start, then experts "
                                           "in every n-th layer",
                                           text));
    }
    const std::optional<int64_t> layers = r_.Number("--num-layers");
    if (layers.has_value() && *layers != static_cast<int64_t>(list->size())) {
      return r_.Fail(argument, fmt::format("'{}' is a list of {} layers; the model has {}", text,
                                           list->size(), *layers));
    }
    r_.Set("model.first_dense_layers", std::to_string(pattern->first), argument);
    r_.Set("model.moe_every", std::to_string(pattern->every), argument);
  }

  bool HasAuxiliaryLoss() const {
    bool positive = false;
    if (r_.Has("--moe-aux-loss-coeff")) {
      for (const ScriptWord& value : r_.Values("--moe-aux-loss-coeff")) {
        positive = r_.IsPositive(value) || positive;
      }
    }
    if (!r_.Has("--moe-router-load-balancing-type")) return positive;
    for (const ScriptWord& value : r_.Values("--moe-router-load-balancing-type")) {
      if (value.text.find("aux_loss") != std::string::npos) return positive;
    }
    return false;
  }

  MegatronReader& r_;
};

}  // namespace

void ComputeExperts(MegatronReader* reader) { ComputedExperts(reader).Set(); }

}  // namespace drydock
