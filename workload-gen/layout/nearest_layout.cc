#include "workload-gen/layout/nearest_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "workload-gen/job/job_rules.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

constexpr size_t kMaxChoices = 16;   // of one degree
constexpr size_t kMaxTried = 20000;  // layouts
constexpr int kMinWeighed = 16;
constexpr int kMaxRanks = 1 << 18;  // of all layouts whose memory is asked for, roughly

struct Candidate {
  double distance = 0;
  int tensor = 1, pipeline = 1, chunks = 1, context = 1, expert = 1;
};

// How far the degree `to` is from the degree `from` that the job asks for.
double Distance(int from, int to) {
  return from == to ? 0 : 1 + std::abs(std::log2(static_cast<double>(to) / from));
}

// Returns the divisors of `number` up to `most`, nearest to `wanted` first.
std::vector<int> DivisorsNear(int64_t number, int wanted, int most) {
  std::vector<int> list;
  for (int divisor = 1; divisor <= most && divisor <= number; ++divisor) {
    if (number % divisor == 0) list.push_back(divisor);
  }
  std::stable_sort(list.begin(), list.end(),
                   [wanted](int a, int b) { return Distance(wanted, a) < Distance(wanted, b); });
  if (list.size() > kMaxChoices) list.resize(kMaxChoices);
  return list;
}

class Search {
 public:
  Search(const TrainingJob& job, const Topology& topology)
      : job_(job), wanted_(job.parallel), topology_(topology) {
    experts_ = {wanted_.expert};
    if (job.model.moe.experts > 0) {
      experts_ = DivisorsNear(job.model.moe.experts, wanted_.expert, 2 * wanted_.expert);
    }
  }

  Suggestion Run(const MemoryMistake& memory) {
    std::vector<Candidate> candidates = Candidates();
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
    if (candidates.size() > kMaxTried) candidates.resize(kMaxTried);
    Suggestion nearest;
    // The candidates that work, the nearest first. A candidate that needs another batch is farther
    // away than its place in the list says. So it is weighed only when no later one can be nearer.
    std::multimap<double, Candidate> waiting;
    for (size_t i = 0; i <= candidates.size(); ++i) {
      while (!waiting.empty() &&
             (i == candidates.size() || waiting.begin()->first <= candidates[i].distance)) {
        if (Weigh(waiting.begin()->second, memory, &nearest)) return nearest;
        waiting.erase(waiting.begin());
      }
      if (i == candidates.size()) break;
      TrainingJob job = With(candidates[i]);
      if (!Works(&job)) continue;
      const double distance = candidates[i].distance + BatchDistance(job);
      waiting.emplace(distance, candidates[i]);
    }
    return nearest;
  }

 private:
  // Returns whether the search ends: the layout fits the memory, or enough others did not.
  // REQUIRES: the candidate works.
  bool Weigh(const Candidate& candidate, const MemoryMistake& memory, Suggestion* nearest) const {
    TrainingJob job = With(candidate);
    Works(&job);
    const std::optional<std::string> mistake = memory(job, *ResolveLayout(job, topology_));
    if (!mistake.has_value()) return false;
    if (nearest->tried++ == 0 || mistake->empty()) {
      nearest->settings = Settings(job);
      nearest->mistake = *mistake;
    }
    const int most = std::clamp(kMaxRanks / topology_.gpu_count(), kMinWeighed, kMaxWeighed);
    return mistake->empty() || nearest->tried >= most;
  }

  std::vector<Candidate> Candidates() const {
    const int gpus = topology_.gpu_count();
    const std::vector<int> tensors = DivisorsNear(gpus, wanted_.tensor, gpus);
    const std::vector<int> pipelines = DivisorsNear(gpus, wanted_.pipeline, gpus);
    const std::vector<int> contexts = DivisorsNear(gpus, wanted_.context, wanted_.context);
    std::vector<Candidate> list;
    for (const int tensor : tensors) {
      for (const int pipeline : pipelines) {
        for (const int context : contexts) {
          if (int64_t{tensor} * pipeline * context > gpus) continue;
          AddChunks(tensor, pipeline, context, &list);
        }
      }
    }
    return list;
  }

  // Returns the numbers of virtual stages of a rank to try.
  std::vector<int> ChunksWith(int pipeline) const {
    if (!wanted_.layout.empty()) {
      const auto stages = static_cast<int>(ExpandPipelineLayout(wanted_.layout).stages.size());
      return stages % pipeline == 0 ? std::vector<int>{stages / pipeline} : std::vector<int>{};
    }
    const int counted = job_.model.layers + (wanted_.account_for_embedding ? 1 : 0) +
                        (wanted_.account_for_loss ? 1 : 0);
    const int most = pipeline == 1 ? 1 : std::max(1, wanted_.virtual_pipeline);
    return DivisorsNear(std::max(1, counted / pipeline), most, most);
  }

  void AddChunks(int tensor, int pipeline, int context, std::vector<Candidate>* list) const {
    for (const int chunks : ChunksWith(pipeline)) {
      for (const int expert : experts_) {
        Candidate c{0, tensor, pipeline, chunks, context, expert};
        c.distance = Distance(wanted_.tensor, tensor) + Distance(wanted_.pipeline, pipeline) +
                     Distance(wanted_.virtual_pipeline, chunks) +
                     Distance(wanted_.context, context) + Distance(wanted_.expert, expert);
        list->push_back(c);
      }
    }
  }

  // A change of the batch counts half as much as a change of a degree.
  double BatchDistance(const TrainingJob& job) const {
    const int64_t from = job_.training.batch.global, to = job.training.batch.global;
    if (from == to) return 0;
    return 0.5 + std::abs(std::log2(static_cast<double>(to) / static_cast<double>(from)));
  }

  TrainingJob With(const Candidate& c) const {
    TrainingJob job = job_;
    ParallelRules& p = job.parallel;
    p.tensor = c.tensor;
    p.pipeline = c.pipeline;
    p.virtual_pipeline = c.chunks;
    p.context = c.context;
    p.expert = c.expert;
    p.data = 0;
    if (c.tensor == 1) p.sequence_parallel = false;
    if (c.tensor > 1 && job.model.moe.experts > 0) p.sequence_parallel = true;
    if (c.chunks == 1) p.microbatch_group = 0;
    if (p.microbatch_group > 0 && p.microbatch_group < p.pipeline) p.microbatch_group = 0;
    return job;
  }

  // True if the job fits the cluster, with its own global batch or with a rounded one.
  bool Works(TrainingJob* job) const {
    Diagnostics diagnostics;
    CheckSectionsTogether(*job, &diagnostics);
    if (!diagnostics.ok()) return false;
    if (ResolveLayout(*job, topology_).ok()) return true;
    const ParallelRules& p = job->parallel;
    const int64_t replica = int64_t{p.tensor} * p.pipeline * p.context;
    if (topology_.gpu_count() % replica != 0) return false;
    int64_t unit = job->training.batch.micro * (topology_.gpu_count() / replica);
    if (p.virtual_pipeline > 1) unit *= p.pipeline;
    const int64_t rounded = (job->training.batch.global + unit / 2) / unit;
    job->training.batch.global = std::max<int64_t>(1, rounded) * unit;
    return ResolveLayout(*job, topology_).ok();
  }

  std::string Settings(const TrainingJob& job) const {
    const ParallelRules& p = job.parallel;
    std::string text;
    const auto say = [&text](const char* key, int64_t from, int64_t to) {
      if (from != to) text += fmt::format(" --set {}={}", key, to);
    };
    say("parallel.tensor", wanted_.tensor, p.tensor);
    if (wanted_.sequence_parallel != p.sequence_parallel) {
      text += fmt::format(" --set parallel.sequence_parallel={}", p.sequence_parallel);
    }
    say("parallel.pipeline", wanted_.pipeline, p.pipeline);
    say("parallel.virtual_pipeline", wanted_.virtual_pipeline, p.virtual_pipeline);
    say("parallel.context", wanted_.context, p.context);
    say("parallel.expert", wanted_.expert, p.expert);
    say("parallel.microbatch_group", wanted_.microbatch_group,
        p.microbatch_group == 0 ? std::min(wanted_.microbatch_group, p.pipeline)
                                : p.microbatch_group);
    if (wanted_.data > 0 &&
        topology_.gpu_count() != int64_t{p.tensor} * p.pipeline * p.context * wanted_.data) {
      text += " --set parallel.data=auto";
    }
    say("training.global_batch", job_.training.batch.global, job.training.batch.global);
    return text.empty() ? "" : text.substr(1);
  }

  const TrainingJob& job_;
  const ParallelRules& wanted_;
  const Topology& topology_;
  std::vector<int> experts_;
};

}  // namespace

Suggestion NearestLayout(const TrainingJob& job, const Topology& topology,
                         const MemoryMistake& memory) {
  return Search(job, topology).Run(memory);
}

Result<ParallelLayout> ResolveLayoutOrSuggest(const TrainingJob& job, const Topology& topology,
                                              const MemoryMistake& memory) {
  Result<ParallelLayout> layout = ResolveLayout(job, topology);
  if (layout.ok()) return layout;
  const Suggestion nearest = NearestLayout(job, topology, memory);
  if (nearest.settings.empty()) return layout;
  std::vector<Diagnostic> diagnostics = layout.error().diagnostics();
  diagnostics.back().message +=
      nearest.mistake.empty()
          ? "; the nearest layout that works: " + nearest.settings
          : fmt::format(
                "; of the {} nearest layouts that work otherwise, none fits the memory: {} "
                "needs {}",
                nearest.tried, nearest.settings, nearest.mistake);
  return Error(std::move(diagnostics));
}

}  // namespace drydock
