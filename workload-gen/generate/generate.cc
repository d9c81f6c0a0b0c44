#include "workload-gen/generate/generate.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/spelling.h"
#include "core/model/attention_backend.h"
#include "core/schema/cluster/processor_file.h"
#include "core/schema/tokens/token_costs.h"
#include "workload-gen/generate/assumed_layout.h"
#include "workload-gen/host/assumptions.h"
#include "workload-gen/host/host_costs.h"
#include "workload-gen/host/host_launch.h"
#include "workload-gen/host/host_memory.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/job_rules.h"
#include "workload-gen/job/key.h"
#include "workload-gen/layout/gpu_format.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/layout/nearest_layout.h"
#include "workload-gen/routing/expert_loads.h"

namespace drydock {
namespace {

std::vector<Assumption> AsAssumptions(const ImportNotes& notes) {
  std::vector<Assumption> list;
  for (const AssumedKey& each : notes.assumed) {
    list.push_back({each.key, each.value, "assumed: " + each.source});
  }
  return list;
}

}  // namespace

Result<Overrides> SplitOverrides(const std::vector<std::string>& all) {
  Overrides split;
  for (const std::string& assignment : all) {
    if (IsTrainingOverride(assignment)) {
      split.model.push_back(assignment);
    } else if (IsClusterOverride(assignment)) {
      split.cluster.push_back(assignment);
    } else if (MeansInference(assignment.substr(0, assignment.find_first_of(".=")))) {
      return Error(kInferenceText, {"--set " + assignment, 0, 0});
    } else {
      return Error(
          fmt::format("no such section; sections are {} (model.yaml) and cluster, hosts, fabric, "
                      "transport, faults, jitter, nccl, cost, storage (cluster.topo)",
                      Join(SectionNames())),
          {"--set " + assignment, 0, 0});
    }
  }
  return split;
}

Status Complete(Generated* run) {
  RETURN_IF_ERROR(ResolveExpertLoads(&run->job));
  run->framework = MakeFramework(run->job.training.framework);
  RETURN_IF_ERROR(run->framework->Check(run->job));
  return ChooseAssumed(*run->framework, run->cluster.topology, &run->notes, &run->job);
}

const char* AttentionOf(const Generated& run) {
  switch (run.job.training.kernels.attention) {
    case AttentionKernels::kFlash:
      return kAttentionByFlash;
    case AttentionKernels::kCudnn:
      return kAttentionByCudnn;
    default:
      return run.framework->AttentionBackend();
  }
}

Result<ParallelLayout> LayoutOf(const Generated& run, LayoutHint hint) {
  const TrainingJob& job = run.job;
  const Topology& topology = run.cluster.topology;
  const Framework& framework = *run.framework;
  RETURN_IF_ERROR(CheckGpuFormat(job, topology));
  if (job.training.moe.without_nccl()) {
    ASSIGN_OR_RETURN(const TokenCostTable costs, LoadTokenCosts());
    RETURN_IF_ERROR(CheckTokenKernels(job, topology, costs));
  }
  const auto mistake = [&](const TrainingJob& other, const ParallelLayout& tried) {
    return MemoryMistakeOf(framework, topology, other, tried);
  };
  ASSIGN_OR_RETURN(const ParallelLayout layout, hint == LayoutHint::kNearest
                                                    ? ResolveLayoutOrSuggest(job, topology, mistake)
                                                    : ResolveLayout(job, topology));
  RETURN_IF_ERROR(framework.CheckLayout(job, layout));
  return layout;
}

Workload BuildOps(const Generated& run, const ParallelLayout& layout,
                  std::vector<Bytes>* saved_by_layer) {
  return run.framework->Build(run.job, layout, run.cluster.topology,
                              {.reserved = false, .saved_by_layer = saved_by_layer});
}

Status Build(Generated* run, LayoutHint hint) {
  const TrainingJob& job = run->job;
  const Framework& framework = *run->framework;
  ASSIGN_OR_RETURN(const ParallelLayout layout, LayoutOf(*run, hint));
  run->workload = framework.Build(job, layout, run->cluster.topology, {.curve = &run->memory});
  ASSIGN_OR_RETURN(const HostLaunchSet launch, HostLaunchOf(job));
  ChargeHost(launch, job, &run->workload);
  ASSIGN_OR_RETURN(const LaunchSpeeds processors, LoadLaunchSpeeds());
  run->attention = AttentionOf(*run);
  run->workload.assumptions =
      AssumptionsOf({job, run->workload, run->cluster.variation, launch, processors, run->attention,
                     AsAssumptions(run->notes)});
  return FillHostMemory(&run->workload);
}

Result<Generated> Generate(const JobSource& model, const std::string& cluster,
                           const std::vector<std::string>& overrides) {
  ASSIGN_OR_RETURN(const Overrides split, SplitOverrides(overrides));
  Generated run;
  ASSIGN_OR_RETURN(run.job, LoadJob(model, split.model, &run.notes));
  ASSIGN_OR_RETURN(run.cluster, LoadCluster(cluster, split.cluster));
  RETURN_IF_ERROR(Complete(&run));
  RETURN_IF_ERROR(Build(&run));
  return run;
}

}  // namespace drydock
