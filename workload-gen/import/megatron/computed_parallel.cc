// The keys of the sections `parallel` and `overlap`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/scan.h"
#include "workload-gen/import/megatron/computed_keys.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

class ComputedParallel {
 public:
  ComputedParallel(MegatronReader* reader, ImportNotes* notes) : r_(*reader), notes_(*notes) {}

  void Set() {
    if (r_.Text("--tensor-model-parallel-size", "1") == "1" && r_.Has("--sequence-parallel")) {
      r_.Set("parallel.sequence_parallel", "false", "--sequence-parallel");
      notes_.remarks.push_back("--sequence-parallel has no effect without tensor parallelism");
    }
    SetContext();
    const bool layout = r_.Has("--pipeline-model-parallel-layout");
    const std::optional<int64_t> chunks = layout ? ChunksOfLayout() : Chunks();
    CheckExpertOverlap(chunks.value_or(1));
    if (!chunks.has_value()) return;
    if (!layout) r_.Set("parallel.virtual_pipeline", std::to_string(*chunks));
    if (*chunks > 1 && !r_.Has("--no-overlap-p2p-communication")) r_.Set("overlap.p2p", "true");
  }

 private:
  // The rules of transformer_config.py, in the words of the script.
  void CheckExpertOverlap(int64_t chunks) {
    const char* overlap = "--overlap-moe-expert-parallel-comm";
    const char* delay = "--delay-wgrad-compute";
    if (!r_.Has(overlap)) {
      if (r_.Has(delay)) r_.Fail(delay, fmt::format("{} needs {}", delay, overlap));
      return;
    }
    const std::string pipeline = r_.Text("--pipeline-model-parallel-size", "1");
    const std::string dispatcher = r_.Text("--moe-token-dispatcher-type", "allgather");
    const auto& modules = r_.Has("--recompute-modules") ? r_.Values("--recompute-modules")
                                                        : std::vector<ScriptWord>();
    const bool repeats = std::any_of(modules.begin(), modules.end(),
                                     [](const ScriptWord& word) { return word.text == "moe"; });
    const std::pair<bool, std::string> mistakes[] = {
        {!r_.Has("--num-experts"), "needs --num-experts"},
        {r_.Text("--expert-model-parallel-size", "1") == "1",
         "needs --expert-model-parallel-size above 1"},
        {dispatcher == "allgather", "needs --moe-token-dispatcher-type alltoall or flex"},
        {pipeline != "1" && chunks <= 1,
         fmt::format("with --pipeline-model-parallel-size {} needs "
                     "--num-virtual-stages-per-pipeline-rank above 1",
                     pipeline)},
        {r_.Text("--recompute-granularity") == "full", "excludes --recompute-granularity full"},
        {repeats, "excludes --recompute-modules moe"},
        {r_.Has("--moe-layer-recompute"), "excludes --moe-layer-recompute"},
        {r_.Has("--moe-shared-expert-overlap"), "excludes --moe-shared-expert-overlap"},
        {r_.Number("--mtp-num-layers").value_or(1) > 1, "needs --mtp-num-layers of at most 1"},
        {*HybridArgument(r_) != '\0', fmt::format("excludes {}", HybridArgument(r_))}};
    for (const auto& [wrong, what] : mistakes) {
      if (wrong) r_.Fail(overlap, fmt::format("{} {}", overlap, what));
    }
  }

  static constexpr const char* kLevels = "--hierarchical-context-parallel-sizes";
  static constexpr const char* kBothLevels = "a2a+p2p";
  static constexpr int64_t kMaxLevel = 1 << 20;

  void SetContext() {
    if (!r_.Has("--cp-comm-type")) {
      if (r_.Has(kLevels)) ReadLevels();
      return;
    }
    const std::vector<ScriptWord>& types = r_.Values("--cp-comm-type");
    if (types.size() != 1) {
      return r_.Fail("--cp-comm-type", "expected one type for all layers");
    }
    if (r_.Text("--cp-comm-type") == kBothLevels) return SetLevels();
    if (r_.Has(kLevels)) ReadLevels();
    r_.Choose("--cp-comm-type", "parallel.context_type",
              {{"p2p", "p2p"},
               {"a2a", "a2a"},
               {"allgather", "allgather"},
               {"all_gather", "allgather"},
               {kBothLevels, kBothLevels}});
  }

  // The first size is that of all-to-alls, the second that of rings (arguments.py and
  // model_parallel_config.py). Transformer Engine leaves out a level of one rank.
  void SetLevels() {
    if (!r_.Has(kLevels)) {
      return r_.Fail("--cp-comm-type", fmt::format("{} needs {}", kBothLevels, kLevels));
    }
    const std::vector<int64_t> sizes = ReadLevels();
    if (sizes.empty()) return;
    if (sizes.size() != 2) {
      return r_.Fail(kLevels,
                     fmt::format("expected two sizes for {}, not {}", kBothLevels, sizes.size()));
    }
    if (sizes[0] == 1 || sizes[1] == 1) {
      return r_.Set("parallel.context_type", sizes[0] == 1 ? "p2p" : "a2a", "--cp-comm-type");
    }
    r_.Set("parallel.context_type", kBothLevels, "--cp-comm-type");
    r_.Set("parallel.context_heads", std::to_string(sizes[0]), kLevels);
  }

  // Returns the sizes of the levels of context parallelism; nothing after an error. Megatron-LM
  // refuses sizes with another product also if no level is used.
  std::vector<int64_t> ReadLevels() {
    std::vector<int64_t> sizes;
    int64_t product = 1;
    for (const ScriptWord& word : r_.Values(kLevels)) {
      const int64_t size = WholeNumber(word.text).value_or(0);
      if (size < 1 || size > kMaxLevel) {
        r_.FailAt(word,
                  fmt::format("'{}': expected a whole number from 1 to {}", word.text, kMaxLevel));
        return {};
      }
      sizes.push_back(size);
      product = std::min(product * size, kMaxLevel * kMaxLevel);
    }
    const std::optional<int64_t> context =
        r_.Has("--context-parallel-size") ? r_.Number("--context-parallel-size") : 1;
    if (!context.has_value()) return {};
    if (product == *context) return sizes;
    r_.Fail(kLevels,
            fmt::format("the product of the sizes is {}, but --context-parallel-size is {}",
                        product, *context));
    return {};
  }

  // The number of virtual stages of a rank, from the layout. It excludes other arguments for them.
  std::optional<int64_t> ChunksOfLayout() {
    const char* layout = "--pipeline-model-parallel-layout";
    for (const char* other :
         {"--num-virtual-stages-per-pipeline-rank", "--num-layers-per-virtual-pipeline-stage"}) {
      if (r_.Has(other)) r_.Fail(other, fmt::format("excludes {}", layout));
    }
    const size_t stages = ExpandPipelineLayout(r_.Text(layout)).stages.size();
    return static_cast<int64_t>(stages) / r_.Number("--pipeline-model-parallel-size").value_or(1);
  }

  // The number of virtual stages of a rank.
  std::optional<int64_t> Chunks() {
    const char* by_stage = "--num-virtual-stages-per-pipeline-rank";
    const char* by_layers = "--num-layers-per-virtual-pipeline-stage";
    if (r_.Has(by_stage)) {
      if (r_.Has(by_layers)) r_.Fail(by_layers, fmt::format("excludes {}", by_stage));
      if (!r_.Number(by_stage).has_value())
        r_.Fail(by_stage, "expected a whole number of at least 1");
      return r_.Number(by_stage);
    }
    if (!r_.Has(by_layers)) return std::nullopt;
    const std::optional<int64_t> each = r_.Number(by_layers);
    const std::optional<int64_t> layers =
        r_.Number(r_.Has("--num-layers") ? "--num-layers" : "--encoder-num-layers");
    if (!each.has_value()) r_.Fail(by_layers, "expected a whole number of at least 1");
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

  MegatronReader& r_;
  ImportNotes& notes_;
};

}  // namespace

void ComputeParallel(MegatronReader* reader, ImportNotes* notes) {
  ComputedParallel(reader, notes).Set();
}

void ComputeOverlap(bool strict, MegatronReader* reader, ImportNotes* notes) {
  const char* argument = "--tp-comm-overlap-cfg";
  if (!reader->Has(argument)) return;
  YamlNode from;
  from.scalar = reader->Text(argument);
  from.location = reader->Place(argument).location;
  std::error_code ignored;
  if (std::filesystem::exists(PathFrom(from), ignored)) {
    return reader->Set("overlap.from", from.scalar, argument);
  }
  const std::string what = fmt::format("{} (there is no '{}')", argument, PathFrom(from));
  if (strict) return reader->Fail(argument, "not modeled: " + what);
  notes->unmodeled.push_back(what);
}

}  // namespace drydock
