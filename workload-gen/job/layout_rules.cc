#include "workload-gen/job/layout_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace drydock {
namespace {

class Rules {
 public:
  Rules(const TrainingJob& job, const Topology& topology, Diagnostics* diagnostics)
      : job_(job),
        model_(job.model),
        parallel_(job.parallel),
        topology_(topology),
        diagnostics_(diagnostics) {}

  void Check() {
    CheckTensor();
    CheckContext();
    CheckExperts();
  }

 private:
  template <typename... Args>
  void Fail(const std::string& key, fmt::format_string<Args...> text, Args&&... args) {
    diagnostics_->Add(job_.ErrorAt(key, fmt::format(text, std::forward<Args>(args)...)));
  }

  // Returns the largest degree up to `degree` that divides all of `values`.
  static int64_t LargestDivisor(int64_t degree, std::initializer_list<int64_t> values) {
    for (; degree > 1; --degree) {
      bool all = true;
      for (const int64_t value : values) all = all && value % degree == 0;
      if (all) break;
    }
    return degree;
  }

  bool HasDenseLayers() const {
    for (int layer = 0; layer < model_.layers; ++layer) {
      if (model_.PartsOf(layer).mlp) return true;
    }
    return false;
  }

  // The sizes that tensor parallelism splits evenly.
  std::vector<std::pair<const char*, int64_t>> SplitSizes() const {
    std::vector<std::pair<const char*, int64_t>> sizes = {{"heads", model_.attention.heads},
                                                          {"hidden", model_.hidden}};
    if (HasDenseLayers()) sizes.emplace_back("ffn", model_.mlp.ffn);
    for (const int64_t width : model_.pattern_ffn) {
      if (width > 0) sizes.emplace_back("pattern_ffn", width);
    }
    if (model_.moe.shared_ffn > 0) sizes.emplace_back("shared_expert_ffn", model_.moe.shared_ffn);
    if (model_.HasMixer(Mixer::kMamba)) {
      sizes.emplace_back("mamba_heads", model_.mamba.heads);
      sizes.emplace_back("mamba_groups", model_.mamba.groups);
    }
    if (model_.HasMixer(Mixer::kDeltaNet)) {
      sizes.emplace_back("delta_key_heads", model_.delta.key_heads);
    }
    return sizes;
  }

  // Several ranks may share one head of keys if all heads are shared by the same number of ranks.
  bool SplitsKeys(int64_t tensor) const {
    return model_.attention.is_latent() || model_.attention.kv_heads % tensor == 0 ||
           tensor % model_.attention.kv_heads == 0;
  }

  void CheckTensor() {
    const int tensor = parallel_.tensor;
    for (const auto& [what, size] : SplitSizes()) {
      if (size % tensor == 0) continue;
      Fail("parallel.tensor", "{} {} is not divisible by tensor {}", what, size, tensor);
    }
    if (!SplitsKeys(tensor)) {
      Fail("parallel.tensor", "kv_heads {} is neither divisible by tensor {} nor divides it",
           model_.attention.kv_heads, tensor);
    }
    if (parallel_.sequence_parallel && model_.sequence % parallel_.context == 0) CheckRows();
    if (job_.overlap.tensor && tensor > 1) CheckTensorOverlap();
  }

  // Userbuffers map the memory of all members of a group; a reduce-scatter sends kScatterParts
  // parts.
  void CheckTensorOverlap() {
    for (const HostKind& kind : topology_.host_kinds) {
      if (kind.gpus % parallel_.tensor == 0) continue;
      Fail(
          "overlap.tensor",
          "'tensor' needs every tensor-parallel group inside a host; tensor {} does not divide the "
          "{} GPUs of a {} host",
          parallel_.tensor, kind.gpus, kind.name);
      return;
    }
    if (job_.overlap.tensor_scatter && model_.hidden % kScatterParts != 0) {
      Fail("overlap.tensor", "hidden {} is not divisible by the {} parts of 'tensor_scatter'",
           model_.hidden, kScatterParts);
    }
  }

  void CheckRows() {
    const int64_t local = model_.sequence / parallel_.context;
    if (local % parallel_.tensor == 0) return;
    if (parallel_.context == 1) {
      Fail("parallel.tensor", "sequence {} is not divisible by tensor {}", local, parallel_.tensor);
      return;
    }
    Fail("parallel.tensor", "sequence {} / context {} = {} is not divisible by tensor {}",
         model_.sequence, parallel_.context, local, parallel_.tensor);
  }

  void CheckContext() {
    const int context = parallel_.context;
    if (context == 1) return;
    // Each rank takes one chunk from either end, so a causal mask gives all ranks the same work.
    if (model_.sequence % (2 * int64_t{context}) != 0) {
      Fail("parallel.context",
           "sequence {} is not divisible by 2 x context {} chunks; the nearest context that fits "
           "is {}",
           model_.sequence, context,
           model_.sequence % 2 == 0 ? LargestDivisor(context, {model_.sequence / 2}) : 1);
    }
    if (parallel_.context_type == ContextType::kAllToAll) {
      CheckContextHeads("context_type", "context", context, "a2a");
    }
    if (parallel_.context_type == ContextType::kHeadsAndRing) CheckContextLevels();
  }

  // Transformer Engine calls one level alone a2a or p2p.
  void CheckContextLevels() {
    const int context = parallel_.context, heads = parallel_.context_heads;
    if (heads == 0) {
      return Fail("parallel.context_type",
                  "context_type a2a+p2p needs context_heads: the ranks that exchange heads");
    }
    if (heads >= context) {
      return Fail(
          "parallel.context_heads",
          "context_heads {} leaves no ring of context {}; give a smaller divisor of context, "
          "or context_type a2a",
          heads, context);
    }
    if (context % heads != 0) {
      const int nearest = NearestDivisor(heads, context);
      return Fail("parallel.context_heads", "context_heads {} does not divide context {}; {}",
                  heads, context,
                  nearest > 0 ? fmt::format("the nearest that does is {}", nearest)
                              : "give context_type p2p or a2a");
    }
    CheckContextHeads("context_heads", "context_heads", heads, "a2a+p2p");
  }

  // Returns the divisor of `whole` next to `wanted`, above 1 and below `whole`; 0 if there is none.
  static int NearestDivisor(int wanted, int whole) {
    for (int away = 0; away < whole; ++away) {
      for (const int value : {wanted - away, wanted + away}) {
        if (value > 1 && value < whole && whole % value == 0) return value;
      }
    }
    return 0;
  }

  // `key` of the section `parallel`: where errors go.
  void CheckContextHeads(const char* key, const char* name, int ranks, const char* type) {
    const int64_t parts = int64_t{parallel_.tensor} * ranks;
    const auto divide = [&](const char* what, int64_t value) {
      if (value % parts == 0) return;
      Fail(std::string("parallel.") + key,
           "{} {} is not divisible by tensor {} x {} {}, which context_type {} splits them over",
           what, value, parallel_.tensor, name, ranks, type);
    };
    divide("heads", model_.attention.heads);
    if (model_.attention.kv_heads != model_.attention.heads && !model_.attention.is_latent())
      divide("kv_heads", model_.attention.kv_heads);
  }

  void CheckExperts() {
    const ExpertShape& moe = model_.moe;
    if (moe.experts == 0) return;
    const int tensor = ExpertTensorOf(parallel_);
    if (moe.ffn % tensor != 0) {
      Fail(parallel_.expert_tensor > 0 ? "parallel.expert_tensor" : "parallel.tensor",
           "expert_ffn {} is not divisible by expert_tensor {}; the nearest that fits is {}",
           moe.ffn, tensor, LargestDivisor(tensor, {moe.ffn}));
    }
    CheckDispatch(tensor);
  }

  // The kernels of low latency exist for some sizes (SWITCH_HIDDEN of DeepEP's launch.cuh,
  // kNumMaxTopK of internode_ll.cu, and 128 values to each scale).
  void CheckLowLatency(int tensor) {
    static const std::vector<int64_t> widths = {2048, 2560, 4096, 5120, 6144, 7168, 8192};
    constexpr int kMostExpertsPerToken = 11;
    const int64_t width = model_.expert_width();
    if (tensor > 1) {
      Fail("training.moe_deepep",
           "'low-latency' needs expert_tensor 1, not {}: it sends a token to one rank for each "
           "expert",
           tensor);
    } else if (std::find(widths.begin(), widths.end(), width) == widths.end()) {
      Fail("training.moe_deepep",
           "'low-latency' has kernels for tokens of {} values, not {}; write 'normal'",
           fmt::join(widths, ", "), width);
    } else if (model_.moe.per_token > kMostExpertsPerToken) {
      Fail("training.moe_deepep",
           "'low-latency' has kernels for at most {} experts_per_token, not {}; write 'normal'",
           kMostExpertsPerToken, model_.moe.per_token);
    }
  }

  void CheckDispatch(int tensor) {
    if (!job_.training.moe.without_nccl()) return;
    if (job_.training.moe.low_latency) return CheckLowLatency(tensor);
    const int ranks = parallel_.expert * tensor;
    for (const HostKind& kind : topology_.host_kinds) {
      if (kind.gpus == topology_.host_kinds.front().gpus &&
          (ranks % kind.gpus == 0 || kind.gpus % ranks == 0)) {
        continue;
      }
      Fail("training.moe_dispatcher",
           "dispatcher {} needs hosts of one size; expert {} x expert_tensor {} = {} ranks must "
           "divide the GPUs of a host or be a multiple of them; a {} host has {} GPUs",
           job_.training.moe.dispatcher == MoeDispatcher::kFlex ? "flex" : "hybridep",
           parallel_.expert, tensor, ranks, kind.name, kind.gpus);
      return;
    }
  }

  const TrainingJob& job_;
  const ModelShape& model_;
  const ParallelRules& parallel_;
  const Topology& topology_;
  Diagnostics* diagnostics_;
};

}  // namespace

void CheckDegrees(const TrainingJob& job, const Topology& topology, Diagnostics* diagnostics) {
  Rules(job, topology, diagnostics).Check();
}

}  // namespace drydock
