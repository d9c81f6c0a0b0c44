#include "workload-gen/layout/fitting_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "workload-gen/job/job_rules.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

constexpr size_t kMaxWeighedLayouts = 4000;

struct Degrees {
  int tensor = 1, pipeline = 1, expert = 1;
};

std::vector<int> DivisorsUpTo(int64_t number, int64_t most) {
  std::vector<int> list;
  for (int divisor = 1; divisor <= most && divisor <= number; ++divisor) {
    if (number % divisor == 0) list.push_back(divisor);
  }
  return list;
}

// The stages of a pipeline whose number does not divide the layers: those after the first, which
// has the embedding, get one more.
std::string UnevenStages(const ModelShape& model, int pipeline) {
  LayoutStages stages(static_cast<size_t>(pipeline));
  const int each = model.layers / pipeline, more = model.layers % pipeline;
  for (int stage = 0; stage < pipeline; ++stage) {
    const int layers = each + (stage >= 1 && stage <= more ? 1 : 0);
    stages[static_cast<size_t>(stage)] = std::string(static_cast<size_t>(layers), 't');
  }
  stages.front().insert(0, 1, 'E');
  stages.back() += std::string(static_cast<size_t>(model.mtp_layers), 'm') + 'L';
  return ToLayoutText(stages);
}

class Fitter {
 public:
  Fitter(const OpenChoices& open, const Topology& topology, const MemoryMistake& memory,
         const TrainingJob& job)
      : open_(open), topology_(topology), memory_(memory), job_(job), domain_(Domain()) {}

  Status Fit(TrainingJob* chosen) {
    const std::vector<Degrees> candidates = Candidates();
    std::vector<Recompute> rounds = {job_.training.recompute.granularity};
    if (open_.recompute && rounds.front() != Recompute::kFull) rounds.push_back(Recompute::kFull);
    for (const Recompute recompute : rounds) {
      for (const Degrees& degrees : candidates) {
        if (tried_ >= kMaxWeighedLayouts) break;
        const std::optional<TrainingJob> job = With(degrees, recompute);
        if (!job.has_value() || !Weigh(*job)) continue;
        *chosen = *job;
        return OkStatus();
      }
    }
    if (tried_ == 0) return OkStatus();
    return job_.ErrorAt(
        "parallel",
        fmt::format("no layout of {} on these {} GPUs fits their memory; the last of the {} that "
                    "were tried, {}, needs {}; give more GPUs, or less with --set (model.sequence, "
                    "parallel.context, training.micro_batch)",
                    job_.model.name, topology_.gpu_count(), tried_, last_, last_mistake_));
  }

 private:
  // The GPUs that NVLink connects: those of the smallest host.
  int Domain() const {
    int smallest = topology_.gpu_count();
    for (const int kind : topology_.hosts) {
      smallest = std::min(smallest, topology_.host_kinds[static_cast<size_t>(kind)].gpus);
    }
    return std::max(1, smallest);
  }

  // Returns whether the job fits the memory; remembers the last that does not, which has the most
  // ranks for a model.
  bool Weigh(const TrainingJob& job) {
    const Result<ParallelLayout> layout = ResolveLayout(job, topology_);
    const std::optional<std::string> mistake = memory_(job, *layout);
    if (!mistake.has_value()) return false;
    ++tried_;
    last_ = layout->ToString();
    last_mistake_ = *mistake;
    return mistake->empty();
  }

  std::vector<Degrees> Candidates() const {
    const ParallelRules& own = job_.parallel;
    const int gpus = topology_.gpu_count();
    const std::vector<int> tensors =
        open_.tensor ? DivisorsUpTo(domain_, domain_) : std::vector<int>{own.tensor};
    const std::vector<int> pipelines = open_.pipeline
                                           ? DivisorsUpTo(gpus, std::min(gpus, job_.model.layers))
                                           : std::vector<int>{own.pipeline};
    const std::vector<int> experts =
        open_.expert && job_.model.moe.experts > 0
            ? DivisorsUpTo(job_.model.moe.experts, std::min(gpus, job_.model.moe.experts))
            : std::vector<int>{own.expert};
    std::vector<Degrees> list;
    for (const int tensor : tensors) {
      for (const int pipeline : pipelines) {
        if (int64_t{tensor} * pipeline > gpus) continue;
        for (const int expert : experts) list.push_back({tensor, pipeline, expert});
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [this](const Degrees& a, const Degrees& b) { return Cost(a) < Cost(b); });
    return list;
  }

  std::tuple<int64_t, bool, int, int> Cost(const Degrees& d) const {
    const int64_t hosts = (d.expert + domain_ - 1) / domain_;
    const bool uneven = job_.model.layers % d.pipeline != 0;
    const int first = job_.model.moe.experts > 0 ? d.tensor : d.pipeline;
    return {int64_t{d.tensor} * d.pipeline * hosts, uneven, first, d.expert};
  }

  // The job with these degrees; nothing if they do not work.
  std::optional<TrainingJob> With(const Degrees& d, Recompute recompute) const {
    TrainingJob job = job_;
    ParallelRules& p = job.parallel;
    p.tensor = d.tensor;
    p.pipeline = d.pipeline;
    p.expert = d.expert;
    if (open_.tensor) p.sequence_parallel = d.tensor > 1;
    if (open_.pipeline && job.model.layers % d.pipeline != 0) {
      p.layout = UnevenStages(job.model, d.pipeline);
    }
    job.training.recompute.granularity = recompute;
    if (open_.batch) RoundBatch(&job);
    Diagnostics diagnostics;
    CheckSectionsTogether(job, &diagnostics);
    if (!diagnostics.ok() || !ResolveLayout(job, topology_).ok()) return std::nullopt;
    return job;
  }

  void RoundBatch(TrainingJob* job) const {
    const ParallelRules& p = job->parallel;
    const int64_t model = int64_t{p.tensor} * p.pipeline * p.context;
    const int64_t data = std::max<int64_t>(1, topology_.gpu_count() / model);
    const int64_t unit = data * job->training.batch.micro;
    const int64_t sequences = open_.step_tokens / job->model.sequence;
    const int64_t microbatches = (sequences + unit / 2) / unit;
    job->training.batch.global = std::max<int64_t>(p.pipeline, microbatches) * unit;
  }

  const OpenChoices& open_;
  const Topology& topology_;
  const MemoryMistake& memory_;
  const TrainingJob& job_;
  const int domain_;
  size_t tried_ = 0;
  std::string last_, last_mistake_;
};

}  // namespace

Status FitLayout(const OpenChoices& open, const Topology& topology, const MemoryMistake& memory,
                 TrainingJob* job) {
  if (!open.any()) return OkStatus();
  const TrainingJob given = *job;
  return Fitter(open, topology, memory, given).Fit(job);
}

}  // namespace drydock
