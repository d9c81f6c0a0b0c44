#include "exec-engine/collective-perf/collective_perf.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/model/calls/call_words.h"
#include "core/model/calls/call_workload.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/calls/plan_works.h"
#include "core/model/calls/rank_list.h"
#include "core/model/timeline.h"
#include "core/progress/progress_line.h"
#include "core/schema/artefacts/artefacts.h"
#include "exec-engine/command/choices.h"
#include "exec-engine/command/network_pick.h"
#include "exec-engine/replay/progress.h"
#include "exec-engine/replay/replay.h"

namespace drydock {
namespace {

constexpr std::string_view kAuto = "auto:";

std::string DecisionText(const Plan& plan) {
  if (plan.works.front().algorithm == Algorithm::kLocal) return "local";
  const std::vector<WorkKind> works = WorkKindsOf(plan);
  const int channels = MaxChannels(works);
  return fmt::format("{}, {} channel{}", ToString(works), channels, channels == 1 ? "" : "s");
}

std::vector<Group> FirstOfEachHost(const GroupChoice& choice, const Topology& topology) {
  Group group;
  const Placement placement(topology);
  for (int rank = 0; rank < topology.gpu_count(); ++rank) {
    const Placement::Slot& slot = placement.of(rank);
    if (choice.hosts > 0 && slot.host >= choice.hosts) continue;
    if (choice.ranks_per_host > 0 && slot.gpu >= choice.ranks_per_host) continue;
    group.ranks.push_back(rank);
  }
  return {group};
}

Status CheckHosts(const GroupChoice& choice, const Topology& topology) {
  if (choice.hosts > topology.host_count()) {
    return Error(
        fmt::format("the cluster has {} hosts, not {}", topology.host_count(), choice.hosts));
  }
  for (int host = 0; host < (choice.hosts > 0 ? choice.hosts : topology.host_count()); ++host) {
    const int gpus = topology.kind_of_host(host).gpus;
    if (choice.ranks_per_host <= gpus) continue;
    return Error(fmt::format("host {} has {} GPUs, not {}", host, gpus, choice.ranks_per_host));
  }
  return OkStatus();
}

Status CheckDisjoint(const std::vector<Group>& groups, int rank_count) {
  std::vector<bool> taken(static_cast<size_t>(rank_count), false);
  for (const Group& group : groups) {
    if (group.ranks.size() != groups[0].ranks.size()) {
      return Error(fmt::format("the groups {} and {} have different sizes",
                               RanksText(groups[0].ranks), RanksText(group.ranks)));
    }
    for (const int rank : group.ranks) {
      if (taken[static_cast<size_t>(rank)]) {
        return Error(fmt::format("rank {} is in two groups", rank));
      }
      taken[static_cast<size_t>(rank)] = true;
    }
  }
  return OkStatus();
}

// Runs simccl on a workload of all calls in a temporary directory. Returns the workload and its
// plans.
Result<std::pair<WorkloadFile, FlowPlan>> PlanCalls(const CollectivePerf& perf,
                                                    std::vector<CommCall> calls, bool check) {
  const std::string place = std::filesystem::temp_directory_path() / "collective-perf";
  ASSIGN_OR_RETURN(const StagedDirectory run, StagedDirectory::Create(place));
  const Workload workload = WorkloadOfCalls(perf.cluster.topology, perf.groups, std::move(calls));
  Provenance provenance;
  provenance.tool = "collective-perf";
  RETURN_IF_ERROR(WriteWorkload(run.path(), workload, perf.cluster, provenance));
  std::vector<std::string> arguments = {run.path(), "-q"};
  if (check) arguments.push_back("--check");
  arguments.insert(arguments.end(), perf.simccl_arguments.begin(), perf.simccl_arguments.end());
  TaskProgress progress(perf.tool, perf.common);
  progress.Show(fmt::format("plans {} calls", workload.calls.size()));
  RETURN_IF_ERROR(RunBeside("simccl", arguments));
  progress.End();
  ASSIGN_OR_RETURN(WorkloadFile file, ReadWorkload(run.path(), WorkloadParts::kAll));
  if (check) return std::pair(std::move(file), FlowPlan());
  ASSIGN_OR_RETURN(FlowPlan plan, ReadFlowPlan(run.path(), file));
  return std::pair(std::move(file), std::move(plan));
}

// `index` is the index of the size, for the progress.
Result<Time> TimeOf(const CollectivePerf& perf, const CallAlone& alone, const NetworkModel& network,
                    size_t index) {
  ReplayOptions options;
  options.network.threads = perf.threads;
  options.variation = perf.cluster.variation;
  Progress progress;
  options.progress = &progress;
  const ProgressLine line(perf.tool, perf.common, [&]() -> std::string {
    const Progress::Snapshot at = progress.Now();
    if (at.all_ops == 0) return "";
    return fmt::format("size {} of {}, {} %", index + 1, perf.sizes.size(),
                       at.ops * 100 / at.all_ops);
  });
  return TimeOfOneCall(alone, perf.loop, network, options);
}

// Returns the group of nccl-tests' --agg_iters.
CommCall Aggregated(const CommCall& call, int number) {
  if (number == 1) return call;
  return MakeGrouped(std::vector<CommCall>(static_cast<size_t>(number), call));
}

// Returns false for calls that NCCL does not make in place. nccl-tests prints the columns anyway.
bool HasInPlace(CollectiveType type) {
  return type != CollectiveType::kAllToAll && type != CollectiveType::kAllToAllV;
}

// Times both columns of a size. `call` is out of place; the next call is in place if there is one.
Status TimeSize(const CollectivePerf& perf, const Workload& workload, const FlowPlan& plan,
                uint32_t call, size_t index, SweepResult* result) {
  const CallAlone out_of_place = TakeCall(workload, plan, call);
  const NetworkModel* choice = perf.network.For(result->size.size);
  if (choice == nullptr) {
    const NetworkPick pick = PickNetwork(out_of_place.workload, out_of_place.plan, 1);
    ASSIGN_OR_RETURN(choice, FindNetwork(pick.network));
  }
  const NetworkModel& network = *choice;
  ASSIGN_OR_RETURN(result->out_of_place, TimeOf(perf, out_of_place, network, index));
  result->in_place = result->out_of_place;
  result->decision = DecisionText(out_of_place.plan.plans[0]);
  result->network = network.name;
  if (!HasInPlace(result->size.call.collective)) return OkStatus();
  const CallAlone in_place = TakeCall(workload, plan, call + 1);
  // NCCL does the same in place if no member has anything to copy to itself.
  if (in_place.plan.plans == out_of_place.plan.plans) return OkStatus();
  ASSIGN_OR_RETURN(result->in_place, TimeOf(perf, in_place, network, index));
  return OkStatus();
}

}  // namespace

std::string NetworkRule::Text() const {
  if (below == nullptr) {
    return fmt::format("packet for at most {} packets a call, fluid for more", kMaxPackets);
  }
  if (below == from) return from->name;
  return fmt::format("{} below {} B, {} from there", below->name, limit.count(), from->name);
}

Result<NetworkRule> ParseNetworkRule(const std::string& text) {
  NetworkRule rule;
  if (text.starts_with(kAuto)) {
    ASSIGN_OR_RETURN(rule.limit, ParseCallSize(text.substr(kAuto.size())));
    ASSIGN_OR_RETURN(rule.below, FindNetwork(kPacketNetwork));
    ASSIGN_OR_RETURN(rule.from, FindNetwork("analytical"));
    return rule;
  }
  const auto choice = FindNetwork(text);
  if (!choice.ok()) return Error(choice.error().message() + ", auto:SIZE");
  rule.below = rule.from = *choice;
  return rule;
}

Result<std::vector<Group>> ChooseGroups(const GroupChoice& choice, const Topology& topology) {
  if (choice.lists.empty()) {
    RETURN_IF_ERROR(CheckHosts(choice, topology));
    return FirstOfEachHost(choice, topology);
  }
  std::vector<Group> groups;
  for (const std::string& list : choice.lists) {
    ASSIGN_OR_RETURN(const std::vector<int> ranks, ParseRanks(list));
    for (int by = 0; by < choice.shift; ++by) {
      Group group{ranks};
      for (int& rank : group.ranks) rank += by;
      RETURN_IF_ERROR(PlacedIn("--group " + list, CheckRanks(group.ranks, topology.gpu_count())));
      groups.push_back(std::move(group));
    }
  }
  RETURN_IF_ERROR(CheckDisjoint(groups, topology.gpu_count()));
  return groups;
}

Status RunCollectivePerf(const CollectivePerf& perf, bool check,
                         const std::function<void(const SweepResult&)>& on_result) {
  // The calls that move data: each out of place and, if NCCL makes it in place, also in place.
  std::vector<CommCall> calls;
  std::vector<uint32_t> call_of;  // by size
  for (const SweepSize& size : perf.sizes) {
    call_of.push_back(static_cast<uint32_t>(calls.size()));
    if (size.call.count == 0) continue;
    calls.push_back(Aggregated(size.call, perf.aggregated));
    if (!HasInPlace(size.call.collective)) continue;
    CommCall in_place = size.call;
    in_place.in_place = true;
    calls.push_back(Aggregated(in_place, perf.aggregated));
  }
  ASSIGN_OR_RETURN(const auto planned, PlanCalls(perf, std::move(calls), check));
  if (check) return OkStatus();
  const auto& [file, plan] = planned;
  for (size_t i = 0; i < perf.sizes.size(); ++i) {
    SweepResult result{perf.sizes[i], Time(), Time(), "nothing to move", "none"};
    if (result.size.call.count > 0) {
      RETURN_IF_ERROR(TimeSize(perf, file.workload, plan, call_of[i], i, &result));
      result.out_of_place = Time::Ps(result.out_of_place.ps() / perf.aggregated);
      result.in_place = Time::Ps(result.in_place.ps() / perf.aggregated);
    }
    on_result(result);
  }
  return OkStatus();
}

}  // namespace drydock
