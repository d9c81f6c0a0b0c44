#include "study/search/layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "workload-gen/job/key.h"

namespace drydock {
namespace {

constexpr int kMostMicroBatch = 16;
constexpr int kMostContext = 64;

std::vector<int> DivisorsUpTo(int64_t number, int64_t most) {
  std::vector<int> list;
  for (int divisor = 1; divisor <= std::min(number, most); ++divisor) {
    if (number % divisor == 0) list.push_back(divisor);
  }
  return list;
}

std::vector<int> PowersUpTo(int64_t most) {
  std::vector<int> list;
  for (int power = 1; power <= most; power *= 2) list.push_back(power);
  return list;
}

// The GPUs that NVLink connects: those of the smallest host.
int DomainOf(const Topology& topology) {
  int smallest = topology.gpu_count();
  for (const int kind : topology.hosts) {
    smallest = std::min(smallest, topology.host_kinds[static_cast<size_t>(kind)].gpus);
  }
  return std::max(1, smallest);
}

constexpr std::array<std::string_view, 12> kKeys = {
    "parallel.tensor",           "parallel.sequence_parallel",
    "parallel.pipeline",         "parallel.virtual_pipeline",
    "parallel.context",          "parallel.expert",
    "parallel.expert_tensor",    "parallel.account_for_embedding",
    "parallel.account_for_loss", "fsdp.replicas",
    "training.micro_batch",      "training.recompute"};

constexpr const char* kCountsEmbedding = "parallel.account_for_embedding";
constexpr const char* kCountsLoss = "parallel.account_for_loss";

bool HasWords(const std::string& key) {
  return key == "parallel.sequence_parallel" || key == kCountsEmbedding || key == kCountsLoss ||
         key == "training.recompute";
}

std::optional<int> NumberOf(const std::string& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || at != end || number < 1) return std::nullopt;
  return number;
}

struct Layout {
  int tensor = 1, pipeline = 1, virtual_pipeline = 1, context = 1, expert = 1, expert_tensor = 0;
  int micro = 1, replicas = 1;
  bool counts_embedding = false, counts_loss = false;  // as a layer, when layers are split
  std::string sequence_parallel, recompute;
};

// Goes through all combinations, from the outermost degree to the innermost.
class Enumeration {
 public:
  Enumeration(const TrainingJob& job, const Topology& topology,
              const std::vector<std::string>& kept, const std::vector<Axis>& given)
      : job_(job),
        kept_(kept),
        given_(given),
        gpus_(topology.gpu_count()),
        domain_(DomainOf(topology)) {
    const bool megatron = job.training.framework == FrameworkKind::kMegatron;
    const bool fsdp = job.training.framework == FrameworkKind::kFsdp;
    const bool experts = job.model.moe.experts > 0;
    Choose("parallel.tensor", megatron || fsdp, [](const Layout& l) { return Text(l.tensor); });
    Choose("parallel.sequence_parallel",
           (megatron || fsdp) &&
               (!Keeps("parallel.tensor") || Given("parallel.sequence_parallel") != nullptr),
           [](const Layout& l) { return l.sequence_parallel; });
    Choose("parallel.pipeline", megatron, [](const Layout& l) { return Text(l.pipeline); });
    Choose("parallel.virtual_pipeline", megatron,
           [](const Layout& l) { return Text(l.virtual_pipeline); });
    const bool split = megatron && job.parallel.layout.empty() &&
                       job.parallel.first_stage_layers == 0 && job.parallel.last_stage_layers == 0;
    Choose(kCountsEmbedding, split, [](const Layout& l) { return Truth(l.counts_embedding); });
    Choose(kCountsLoss, split, [](const Layout& l) { return Truth(l.counts_loss); });
    // Megatron-LM overlaps messages between stages with compute as soon as stages are interleaved.
    Choose("overlap.p2p", megatron && !Keeps("parallel.virtual_pipeline"),
           [](const Layout& l) { return Truth(l.virtual_pipeline > 1); });
    Choose("parallel.context",
           job.model.sequence >= kLongSequence || Given("parallel.context") != nullptr,
           [](const Layout& l) { return Text(l.context); });
    Choose("parallel.expert", megatron && experts, [](const Layout& l) { return Text(l.expert); });
    Choose("parallel.expert_tensor", megatron && experts,
           [](const Layout& l) { return Text(l.expert_tensor); });
    Choose("fsdp.replicas", fsdp, [](const Layout& l) { return Text(l.replicas); });
    Choose("training.micro_batch", true, [](const Layout& l) { return Text(l.micro); });
    Choose("training.recompute", true, [](const Layout& l) { return l.recompute; });
  }

  Result<LayoutSpace> All() {
    RETURN_IF_ERROR(CheckGiven());
    Enumerate();
    RETURN_IF_ERROR(CheckGivenAreMet());
    return std::move(space_);
  }

 private:
  using TextOf = std::string (*)(const Layout&);
  static std::string Text(int value) { return std::to_string(value); }
  static std::string Truth(bool value) { return value ? "true" : "false"; }

  void Enumerate() {
    const TrainingJob& job = job_;
    const ParallelRules& own = job.parallel;
    Layout l;
    for (const int tensor : Values("parallel.tensor", own.tensor, DivisorsUpTo(domain_, domain_))) {
      l.tensor = tensor;
      for (const int context :
           Values("parallel.context", own.context, PowersUpTo(std::min(gpus_, kMostContext)))) {
        l.context = context;
        for (const int pipeline :
             Divisors("parallel.pipeline", own.pipeline, DivisorsUpTo(gpus_, job.model.layers))) {
          l.pipeline = pipeline;
          AddPipeline(l);
        }
      }
    }
  }

  // Keys of the framework, and numbers where a key has numbers.
  Status CheckGiven() const {
    for (const Axis& axis : given_) {
      if (!Chooses(axis.key)) {
        return Error(
            fmt::format("--over {}: no layout of this model and its framework has this "
                        "key; give its value with --set",
                        axis.key));
      }
      if (HasWords(axis.key)) continue;
      for (const std::string& value : axis.values) {
        if (!NumberOf(value)) {
          return Error(fmt::format("--over {}: '{}' is not a number from 1 on", axis.key, value));
        }
      }
    }
    return OkStatus();
  }

  Status CheckGivenAreMet() const {
    for (const Axis& axis : given_) {
      const auto column = static_cast<size_t>(
          std::find(space_.keys.begin(), space_.keys.end(), axis.key) - space_.keys.begin());
      for (const std::string& value : axis.values) {
        const bool met =
            std::any_of(space_.layouts.begin(), space_.layouts.end(),
                        [&](const std::vector<std::string>& l) { return l[column] == value; });
        if (met) continue;
        return Error(
            fmt::format("--over {}: no layout of {} on these {} GPUs has the value {}; it divides "
                        "what it has to (GPUs, layers, experts, the global batch) with none of the "
                        "others",
                        axis.key, job_.model.name, gpus_, value));
      }
    }
    return OkStatus();
  }

  const Axis* Given(const std::string& key) const {
    const auto axis = std::find_if(given_.begin(), given_.end(),
                                   [&](const Axis& each) { return each.key == key; });
    return axis == given_.end() ? nullptr : &*axis;
  }
  bool Keeps(const std::string& key) const {
    return std::find(kept_.begin(), kept_.end(), key) != kept_.end();
  }
  void Choose(const char* key, bool applies, TextOf text) {
    if (!applies || Keeps(key)) return;
    space_.keys.emplace_back(key);
    texts_.push_back(text);
  }
  bool Chooses(const std::string& key) const {
    return std::find(space_.keys.begin(), space_.keys.end(), key) != space_.keys.end();
  }
  std::vector<int> Values(const std::string& key, int own, std::vector<int> all) const {
    if (!Chooses(key)) return {own};
    return Given(key) == nullptr ? all : GivenNumbers(key);
  }
  // The same where `all` is complete: a given value that is not among them is left out.
  std::vector<int> Divisors(const std::string& key, int own, std::vector<int> all) const {
    if (!Chooses(key)) return {own};
    if (Given(key) == nullptr) return all;
    std::vector<int> values = GivenNumbers(key);
    std::erase_if(values,
                  [&](int value) { return std::find(all.begin(), all.end(), value) == all.end(); });
    return values;
  }
  std::vector<int> GivenNumbers(const std::string& key) const {
    std::vector<int> values;
    for (const std::string& value : Given(key)->values) values.push_back(*NumberOf(value));
    return values;
  }
  // The same for keys of words.
  std::vector<std::string> Words(const std::string& key, const std::string& own,
                                 std::vector<std::string> all) const {
    if (!Chooses(key)) return {own};
    const Axis* const given = Given(key);
    return given == nullptr ? all : given->values;
  }
  std::string OwnRecompute() const { return FindKey("training.recompute")->kind->Text(job_); }

  void AddPipeline(Layout l) {
    const int64_t model = int64_t{l.tensor} * l.context * l.pipeline;
    if (gpus_ % model != 0) return;
    for (const bool embedding : Truths(kCountsEmbedding, job_.parallel.account_for_embedding)) {
      for (const bool loss : Truths(kCountsLoss, job_.parallel.account_for_loss)) {
        l.counts_embedding = embedding;
        l.counts_loss = loss;
        AddChunks(l, static_cast<int>(gpus_ / model));
      }
    }
  }

  // Without a pipeline, there is nothing to split.
  std::vector<bool> Truths(const std::string& key, bool own) const {
    std::vector<bool> values;
    for (const std::string& word : Words(key, Truth(own), {"false", "true"})) {
      values.push_back(word == "true");
    }
    return values;
  }

  void AddChunks(Layout l, int data) {
    const ParallelRules& own = job_.parallel;
    const bool counts = l.counts_embedding || l.counts_loss;
    const bool both = l.counts_embedding && l.counts_loss;
    const bool chosen = Chooses(kCountsEmbedding) || Chooses(kCountsLoss);
    const int layers = job_.model.layers + (l.counts_embedding ? 1 : 0) + (l.counts_loss ? 1 : 0);
    if (chosen && (layers % l.pipeline != 0 || (counts && l.pipeline == 1))) return;
    std::vector<int> chunks = {1};
    // A layout that states its stages has its own chunks.
    if (l.pipeline > 1 && layers % l.pipeline == 0 && own.layout.empty()) {
      chunks = DivisorsUpTo(layers / l.pipeline, layers);
      // A stage that holds the embedding or the loss holds a layer as well.
      // In two stages, both counted is the same as none.
      std::erase_if(chunks, [&](int chunk) {
        const int stages = l.pipeline * chunk;
        return counts && (layers == stages || (chosen && stages == 2 && both));
      });
    }
    for (const int chunk :
         Divisors("parallel.virtual_pipeline", own.virtual_pipeline, std::move(chunks))) {
      l.virtual_pipeline = chunk;
      AddExperts(l, data);
    }
  }

  void AddExperts(Layout l, int data) {
    const int experts = job_.model.moe.experts;
    const ParallelRules& own = job_.parallel;
    for (const int expert :
         Divisors("parallel.expert", own.expert, DivisorsUpTo(experts, experts))) {
      l.expert = expert;
      const int own_tensor = own.expert_tensor > 0 ? own.expert_tensor : l.tensor;
      std::vector<int> tensors = {1};
      if (l.tensor > 1) tensors.push_back(l.tensor);
      for (const int tensor : Divisors("parallel.expert_tensor", own_tensor, std::move(tensors))) {
        l.expert_tensor = tensor;
        if (experts > 0 && (gpus_ / l.pipeline) % (expert * tensor) != 0) continue;
        AddBatches(l, data);
      }
    }
  }

  void AddBatches(Layout l, int data) {
    for (const int replicas : Divisors("fsdp.replicas", 1, DivisorsUpTo(data, data))) {
      l.replicas = replicas;
      for (const int micro :
           Values("training.micro_batch", static_cast<int>(job_.training.batch.micro),
                  PowersUpTo(kMostMicroBatch))) {
        if (job_.training.batch.global % (int64_t{data} * micro) != 0) continue;
        l.micro = micro;
        for (const std::string& recompute :
             Words("training.recompute", OwnRecompute(), {"none", "selective", "full"})) {
          l.recompute = recompute;
          for (const std::string& parallel :
               Words("parallel.sequence_parallel", "", {l.tensor > 1 ? "true" : "false"})) {
            l.sequence_parallel = parallel;
            Add(l);
          }
        }
      }
    }
  }

  void Add(const Layout& l) {
    std::vector<std::string>& values = space_.layouts.emplace_back();
    for (const TextOf text : texts_) values.push_back(text(l));
  }

  const TrainingJob& job_;
  const std::vector<std::string>& kept_;
  const std::vector<Axis>& given_;
  const int gpus_;
  const int domain_;
  LayoutSpace space_;
  std::vector<TextOf> texts_;
};

}  // namespace

Result<LayoutSpace> LayoutsOf(const TrainingJob& job, const Topology& topology,
                              const std::vector<std::string>& kept,
                              const std::vector<Axis>& given) {
  return Enumeration(job, topology, kept, given).All();
}

bool IsLayoutKey(const std::string& key) {
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace drydock
