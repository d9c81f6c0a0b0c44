#include "study/evaluate/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute-sim/model/simulate.h"
#include "compute-sim/model_options.h"
#include "core/model/memory_total.h"
#include "core/schema/cluster/sharing_file.h"
#include "exec-engine/networks/choices/networks_without_packets.h"
#include "exec-engine/replay/replay.h"
#include "simccl/plan/plan_workload.h"
#include "simccl/planner_table.h"
#include "study/evaluate/shared_plans.h"

namespace drydock {
namespace {

const NetworkModel& NetworkCalled(const std::string& name) {
  return name == AnalyticalModel().name ? AnalyticalModel() : FluidModel();
}

Evaluation Refused(const Error& error) {
  Evaluation evaluation;
  evaluation.state = PointState::kRefused;
  evaluation.reason = OneLine(error);
  return evaluation;
}

// A rank of the first stage holds the activations of at most so many, interleaved stages included,
// and then its schedule repeats itself.
int FewMicrobatches(const ParallelLayout& layout) {
  const int turn =
      layout.chunks > 1 ? std::max(layout.pipeline, layout.microbatch_group) : layout.pipeline;
  return std::max(3, 2 * turn);
}

}  // namespace

std::vector<std::string> EvaluatedNetworks() { return {AnalyticalModel().name, FluidModel().name}; }

std::string OneLine(const Error& error) {
  const Diagnostic& first = error.diagnostics().front();
  std::string text = first.location.known()
                         ? Diagnostic{first.message, first.location, ""}.ToString()
                         : first.message;
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

// A cluster, and what is known of it.
struct Evaluator::Cluster {
  ClusterInput input;
  std::unique_ptr<SharedPlans> planner;          // null until it is needed
  std::map<std::string, LoadedOptions> compute;  // by backend of attention
};

Result<std::unique_ptr<Evaluator>> Evaluator::Make(EvaluatorOptions options) {
  auto evaluator = std::unique_ptr<Evaluator>(new Evaluator(std::move(options)));
  ASSIGN_OR_RETURN(evaluator->band_errors_, LoadBandErrors());
  return evaluator;
}

Evaluator::Evaluator(EvaluatorOptions options) : options_(std::move(options)) {}
Evaluator::~Evaluator() = default;

Result<Evaluator::Cluster*> Evaluator::ClusterOf(const std::vector<std::string>& overrides) {
  std::unique_ptr<Cluster>& cluster = clusters_[overrides];
  if (cluster != nullptr) {
    ++shared_.clusters_shared;
    return cluster.get();
  }
  ASSIGN_OR_RETURN(ClusterInput input, LoadCluster(options_.cluster, overrides));
  ++shared_.clusters_read;
  cluster = std::make_unique<Cluster>();
  cluster->input = std::move(input);
  return cluster.get();
}

Result<Evaluator::Cluster*> Evaluator::Load(const std::vector<std::string>& assignments,
                                            Generated* run) {
  ASSIGN_OR_RETURN(const Overrides overrides, SplitOverrides(assignments));
  ASSIGN_OR_RETURN(run->job, LoadJob(options_.model, overrides.model, &run->notes));
  ASSIGN_OR_RETURN(Cluster* const cluster, ClusterOf(overrides.cluster));
  run->cluster = cluster->input;
  RETURN_IF_ERROR(Complete(run));
  return cluster;
}

Result<Evaluation> Evaluator::Evaluate(const std::vector<std::string>& assignments) {
  Generated run;
  const Result<Cluster*> cluster = Load(assignments, &run);
  if (!cluster.ok()) return Refused(cluster.error());
  if (const Status built = Build(&run, LayoutHint::kNone); !built.ok()) {
    return Refused(built.error());
  }
  Evaluation evaluation;
  evaluation.memory = JudgeMemory(run.workload);
  if (evaluation.memory && !evaluation.memory->fits() && !options_.simulate_unfit) {
    evaluation.state = PointState::kUnfit;
    evaluation.reason = ToString(*evaluation.memory);
    return evaluation;
  }
  Result<Summary> summary = Simulated(std::move(run), *cluster, &evaluation);
  if (!summary.ok()) return Refused(summary.error());
  evaluation.summary = *std::move(summary);
  return evaluation;
}

Result<Outline> Evaluator::OutlineOf(const std::vector<std::string>& assignments) {
  Outline outline;
  ASSIGN_OR_RETURN(const Overrides overrides, SplitOverrides(assignments));
  outline.cluster_overrides = overrides.cluster;
  RETURN_IF_ERROR(Load(assignments, &outline.run));
  ASSIGN_OR_RETURN(outline.layout, LayoutOf(outline.run, LayoutHint::kNone));
  return outline;
}

Result<Prepared> Evaluator::Prepare(const std::vector<std::string>& assignments) {
  Prepared prepared;
  const auto refuse = [&](const Error& error) {
    prepared.state = PointState::kRefused;
    prepared.reason = OneLine(error);
    return std::move(prepared);
  };
  Result<Outline> outline = OutlineOf(assignments);
  if (!outline.ok()) return refuse(outline.error());
  const int all = outline->layout.microbatches;
  const int few = FewMicrobatches(outline->layout);
  if (few < all) {
    outline->run.job.training.batch.global =
        outline->run.job.training.batch.micro * outline->layout.data * few;
    Result<ParallelLayout> layout = LayoutOf(outline->run, LayoutHint::kNone);
    if (!layout.ok()) return refuse(layout.error());
    outline->layout = *std::move(layout);
    prepared.more = all - few;
  }
  prepared.varies = outline->varies();
  prepared.workload = BuildOps(outline->run, outline->layout);
  prepared.memory = JudgeMemory(prepared.workload);
  if (prepared.memory && !prepared.memory->fits() && !options_.simulate_unfit) {
    prepared.state = PointState::kUnfit;
    prepared.reason = ToString(*prepared.memory);
    return prepared;
  }
  Result<KernelTimes> times = TimesOf(*outline, prepared.workload);
  if (!times.ok()) return refuse(times.error());
  prepared.times = *std::move(times);
  return prepared;
}

Result<KernelTimes> Evaluator::TimesOf(const Outline& outline, const Workload& workload) {
  ASSIGN_OR_RETURN(Cluster* const cluster, ClusterOf(outline.cluster_overrides));
  return TimesOf(workload, AttentionOf(outline.run), cluster);
}

Result<KernelTimes> Evaluator::TimesOf(const Workload& workload, const std::string& attention,
                                       Cluster* cluster) {
  auto known = cluster->compute.find(attention);
  if (known == cluster->compute.end()) {
    ModelOptions model;
    model.profiles = options_.gpu_profiles;
    ASSIGN_OR_RETURN(
        LoadedOptions loaded,
        LoadModelOptions(model, ProfilePaths(model, workload.topology.gpus), attention));
    known = cluster->compute.emplace(attention, std::move(loaded)).first;
  }
  return Simulate(workload, known->second.simulate);
}

Result<Summary> Evaluator::Simulated(Generated run, Cluster* cluster, Evaluation* evaluation) {
  Inputs& inputs = evaluation->inputs.emplace();
  inputs.workload = std::move(run.workload);
  const Workload& workload = inputs.workload;
  if (cluster->planner == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<CollectivePlanner> planner,
                     MakePlanner(PlannerChoices().front(), cluster->input.topology, {}));
    cluster->planner = std::make_unique<SharedPlans>(std::move(planner));
  }
  const int64_t made = cluster->planner->made(), shared = cluster->planner->shared();
  ASSIGN_OR_RETURN(inputs.flows,
                   PlanWorkload(workload, cluster->planner.get(), [](size_t, size_t) {}));
  shared_.plans_made += cluster->planner->made() - made;
  shared_.plans_shared += cluster->planner->shared() - shared;

  ASSIGN_OR_RETURN(inputs.times, TimesOf(workload, run.attention, cluster));

  ReplayOptions replay;
  replay.fold = Fold::kAuto;
  replay.sharing = SharingOf(workload.topology);
  replay.variation = run.cluster.variation;
  ASSIGN_OR_RETURN(inputs.timeline, Replay(workload, inputs.flows, inputs.times,
                                           NetworkCalled(options_.network), replay));
  if (!run.memory.allocated.empty()) inputs.memory_curve = std::move(run.memory);
  return Summarize(inputs, band_errors_);
}

Shared Evaluator::shared() const { return shared_; }

}  // namespace drydock
