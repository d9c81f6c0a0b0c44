// collective-perf: the table of nccl-tests for a simulated cluster. The work is in
// collective_perf.h.
#include "exec-engine/collective-perf/collective_perf_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/model/calls/rank_list.h"
#include "exec-engine/collective-perf/collective_perf.h"
#include "exec-engine/collective-perf/collective_perf_options.h"
#include "exec-engine/collective-perf/dimension_perf.h"
#include "exec-engine/collective-perf/pair_weights.h"
#include "exec-engine/collective-perf/process_launch.h"
#include "exec-engine/command/choices.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "collective-perf",
    "How long a collective takes for a range of sizes, in nccl-tests' own columns.",
    "reads cluster.topo (docs/reference/cluster-file.md); prints a table; runs the simccl in its "
    "own folder on a temporary run directory",
    "collective-perf all_reduce -b 8 -e 8G -f 2 --cluster configs/clusters/dgx-h100-8.topo", false};

std::string GroupsText(const std::vector<Group>& groups) {
  std::string text =
      fmt::format("{} ranks: {}", groups[0].ranks.size(), RanksText(groups[0].ranks));
  if (groups.size() > 1) text += fmt::format("; {} groups at once", groups.size());
  return text;
}

// The launches of the sweep's processes. A time that the user states holds for every host, whatever
// its processor.
Result<ProcessLaunch> LaunchOf(const CollectivePerfOptions& o, const std::vector<Group>& groups,
                               Topology* topology) {
  ProcessLaunch launch;
  launch.gpus = o.process_gpus;
  RETURN_IF_ERROR(CheckProcesses(launch.gpus, groups, *topology));
  if (o.graphs > 0) return launch;
  if (o.launch_us > 0) {
    launch.each = Time::Ps(std::llround(o.launch_us * 1e6));
    for (HostKind& kind : topology->host_kinds) kind.board.launch_speed = 1;
  } else if (launch.gpus > 1) {
    ASSIGN_OR_RETURN(launch.each, LoadLaunchTime());
  }
  return launch;
}

// "processes of 8 GPUs, 4.29 us for each launch"
std::string LaunchText(const ProcessLaunch& launch, const Topology& topology) {
  if (!launch.modeled()) return "";
  std::string times;
  for (const HostKind& kind : topology.host_kinds) {
    const std::string each = fmt::format("{:.3g} us", launch.each.us() / kind.board.launch_speed);
    if (times.find(each) == times.npos) times += (times.empty() ? "" : " or ") + each;
  }
  return fmt::format(
      "processes of {}, {} for each launch: a call begins {:.3g} us later on the "
      "last GPU of a process than on the first",
      Plural(static_cast<size_t>(launch.gpus), "GPU"), times,
      launch.each.us() / topology.host_kinds.front().board.launch_speed * (launch.gpus - 1));
}

Result<CollectivePerf> Prepare(const CollectivePerfOptions& o, const CommonOptions& common,
                               Sweep sweep) {
  CollectivePerf perf;
  ASSIGN_OR_RETURN(perf.cluster, LoadCluster(o.cluster, o.overrides));
  for (const std::string& note : perf.cluster.notes) Report(kInfo, common, "note: " + note);
  ASSIGN_OR_RETURN(perf.groups, ChooseGroups(o.groups, perf.cluster.topology));
  sweep.group_size = static_cast<int>(perf.groups[0].ranks.size());
  if (sweep.roots.empty()) {
    sweep.roots.resize(perf.groups[0].ranks.size());
    std::iota(sweep.roots.begin(), sweep.roots.end(), 0);
  }
  for (const int root : sweep.roots) {
    if (root < sweep.group_size) continue;
    return Error(fmt::format("there is no root {} in a group of {}", root, sweep.group_size),
                 {"-r " + o.root, 0, 0});
  }
  if (!o.pairs.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(o.pairs));
    ASSIGN_OR_RETURN(sweep.weights, ParsePairWeights(o.pairs, text, sweep.group_size));
  }
  RETURN_IF_ERROR(CheckSweepLength(sweep));
  perf.sizes = SizesOf(sweep);
  perf.network = o.rule;
  perf.loop = o.loop;
  perf.aggregated = o.aggregated;
  ASSIGN_OR_RETURN(perf.loop.launch, LaunchOf(o, perf.groups, &perf.cluster.topology));
  ASSIGN_OR_RETURN(perf.threads, ParseThreads(o.threads));
  if (!o.nccl_library.empty()) perf.simccl_arguments = {"--nccl-library", o.nccl_library};
  if (!o.planner.empty()) {
    perf.simccl_arguments.insert(perf.simccl_arguments.end(), {"--planner", o.planner});
  }
  perf.tool = kInfo;
  perf.common = common;
  return perf;
}

NcclTestsLoop LoopOf(const CollectivePerfOptions& o) {
  NcclTestsLoop loop;
  loop.process_gpus = o.process_gpus;
  loop.calls = o.loop.calls / std::max(1, o.graphs);
  loop.aggregated = o.aggregated;
  loop.graphs = o.graphs;
  loop.blocking = o.blocking;
  return loop;
}

// Prints what follows the rows, and writes the file of -J.
Status Finish(const CollectivePerfOptions& o, const SweepTitle& title,
              const std::vector<SweepResult>& results) {
  if (!o.output.empty()) {
    RETURN_IF_ERROR(WriteFileAtomically(o.output, NcclTestsJson(o.sweep, LoopOf(o), results)));
  }
  fmt::print("{}", o.json ? SweepJson(title, results) : TableFooter(results));
  return OkStatus();
}

Status RunDimensions(const CollectivePerfOptions& o, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const DimensionPerf perf, LoadDimensionPerf(o.astra_network, o.astra_system));
  if (common.check) return OkStatus();
  Sweep sweep = o.sweep;
  sweep.group_size = perf.network.npus();
  sweep.roots = {0};
  const SweepTitle title = {perf.Title(sweep.collective), "analytical, ASTRA-sim's system layer",
                            "", o.idle.Given()};
  std::vector<SweepResult> results;
  if (!o.json) fmt::print("{}", TableHeader(title));
  for (const SweepSize& size : SizesOf(sweep)) {
    results.push_back(TimeDimensionSize(perf, size));
    if (!o.json) fmt::print("{}", TableRow(results.back(), common.verbose));
  }
  return Finish(o, title, results);
}

Status Run(const CollectivePerfOptions& o, const CommonOptions& common) {
  if (o.network == "help") {
    fmt::print("{}{:<12} {}\n", NetworksText(), "auto:SIZE",
               "packet for calls below SIZE, analytical from there");
    return OkStatus();
  }
  if (o.dimensions()) return RunDimensions(o, common);
  ASSIGN_OR_RETURN(const CollectivePerf perf, Prepare(o, common, o.sweep));
  const SweepTitle title = {
      fmt::format("{} on {}, {}", CollectiveTypeNames()[static_cast<size_t>(o.sweep.collective)],
                  perf.cluster.topology.name, GroupsText(perf.groups)),
      perf.network.Text(), LaunchText(perf.loop.launch, perf.cluster.topology), o.idle.Given()};
  std::vector<SweepResult> results;
  if (!o.json && !common.check) fmt::print("{}", TableHeader(title));
  RETURN_IF_ERROR(RunCollectivePerf(perf, common.check, [&](const SweepResult& result) {
    results.push_back(result);
    if (o.json) return;
    fmt::print("{}", TableRow(result, common.verbose));
    std::fflush(stdout);
  }));
  if (common.check) return OkStatus();
  return Finish(o, title, results);
}

std::string Subject(const CollectivePerfOptions& o) {
  return o.dimensions() ? o.astra_network : o.cluster;
}

}  // namespace

std::unique_ptr<Command> MakeCollectivePerfCommand() {
  return MakeCommand<CollectivePerfOptions>(kInfo, DeclareCollectivePerf, Run, Subject);
}

}  // namespace drydock
