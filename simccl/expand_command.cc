// simccl expand: lists the flows of one call, or of the plans of a run.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/schema/artefacts/artefacts.h"
#include "simccl/commands.h"
#include "simccl/explain/call_selection.h"
#include "simccl/explain/flow_list.h"
#include "simccl/planner_table.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "simccl expand", "Lists every flow between GPUs that a call, or the calls of a run, cause.",
    "reads cluster.topo (docs/reference/cluster-file.md), or RUN/1-workload/ and "
    "RUN/2-flows.pb; "
    "docs/how-to/see-what-nccl-picks.md explains the columns",
    "simccl expand --cluster configs/clusters/dgx-h100-8.topo --group 0-15 --collective "
    "all_reduce --size 64KiB --format csv",
    false};

struct Options {
  std::string run;
  CallOptions call;  // instead of a run
  std::string format = "csv";
  PlannerOptions planner;
};

void Declare(CLI::App* command, Options* options, const CommonOptions&) {
  auto* run = command
                  ->add_option("run", options->run,
                               "Run directory, after simccl, instead of --cluster and a call")
                  ->type_name("RUN");
  DeclareCallOptions(command, &options->call);
  for (const char* name : {"--cluster", "--group", "--collective", "--size"}) {
    command->get_option(name)->excludes(run);
  }
  command->add_option("--format", options->format, "csv, json or goal")
      ->type_name("FORMAT")
      ->capture_default_str();
  DeclareLibrary(command, &options->planner.nccl_library);
  CheckOptions(command, [options]() -> Status {
    ASSIGN_OR_RETURN(const FlowFormat format, ParseFlowFormat(options->format));
    if (options->run.empty()) return CheckCallOptions(options->call);
    if (format != FlowFormat::kGoal) return OkStatus();
    return Error("a GOAL schedule has one call: give --cluster and a call, not RUN");
  });
}

// Lists the plans of a run directory. Members are listed by index, since plans name no ranks.
Status ExpandRun(const Options& options, const CommonOptions& common, FlowFormat format) {
  ASSIGN_OR_RETURN(const WorkloadFile workload, ReadWorkload(options.run, WorkloadParts::kTables));
  ASSIGN_OR_RETURN(const FlowPlan flow_plan, ReadFlowPlan(options.run, workload));
  std::vector<ListedPlan> plans;
  for (const Plan& plan : flow_plan.plans) {
    ListedPlan& listed = plans.emplace_back(ListedPlan{plans.size(), &plan, {}});
    for (size_t m = 0; m < plan.members.size(); ++m) listed.names.push_back(static_cast<int>(m));
  }
  if (!common.check) WriteFlows(plans, format, stdout);
  return OkStatus();
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const FlowFormat format, ParseFlowFormat(options.format));
  if (!options.run.empty()) return ExpandRun(options, common, format);
  ASSIGN_OR_RETURN(const SelectedCall selected,
                   SelectCall(options.call, options.planner.nccl_library));
  ASSIGN_OR_RETURN(const std::unique_ptr<CollectivePlanner> planner,
                   MakePlanner(PlannerChoices().front(), selected.topology, options.planner));
  RETURN_IF_ERROR(planner->OpenGroup(selected.Slots()));
  ASSIGN_OR_RETURN(const Plan plan, planner->PlanCall(selected.call));
  const bool in_switches =
      std::any_of(plan.connections.begin(), plan.connections.end(),
                  [](const Connection& connection) { return connection.reduction >= 0; });
  if (format == FlowFormat::kGoal && in_switches) {
    return Error("a GOAL schedule has no reduction in switches, which NCCL uses for this call");
  }
  if (!common.check) WriteFlows({{0, &plan, selected.ranks}}, format, stdout);
  return OkStatus();
}

std::string Subject(const Options& options) {
  return options.run.empty() ? options.call.cluster : options.run;
}

}  // namespace

std::unique_ptr<Command> MakeExpandCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
