// simccl RUN: 1-workload/ in, 2-flows.pb out. Parses flags; the work is in the library.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "core/base/cli.h"
#include "core/base/writable.h"
#include "core/model/calls/step_cursor.h"
#include "core/model/deadlock/deadlock.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "simccl/explain/call_selection.h"
#include "simccl/explain/explain.h"
#include "simccl/explain/flow_list.h"
#include "simccl/plan/collective_planner.h"
#include "simccl/plan/plan_deadlock.h"
#include "simccl/plan/plan_text.h"
#include "simccl/plan/plan_workload.h"

namespace drydock {
namespace {

const ToolInfo kTool = {"simccl",
                        "Turns each distinct communication call into what every member of its "
                        "group sends and receives.",
                        "reads RUN/1-workload/manifest.pb, writes RUN/2-flows.pb",
                        "simccl runs/gpt-22b"};

const ToolInfo kExplain = {
    "simccl explain",
    "Says in words what NCCL picks for a call and why, and what it built for the group.",
    "reads cluster.topo (docs/cluster.md)",
    "simccl explain --cluster configs/clusters/dgx-h100-8.topo --group 0-15 --collective "
    "all_reduce --size 64MiB",
    false};

const ToolInfo kExpand = {
    "simccl expand", "Lists every flow from a GPU to a GPU that a call, or a run's calls, cause.",
    "reads cluster.topo (docs/cluster.md), or RUN/1-workload/manifest.pb and RUN/2-flows.pb; the "
    "columns stand in docs/nccl.md",
    "simccl expand --cluster configs/clusters/dgx-h100-8.topo --group 0-15 --collective "
    "all_reduce --size 64KiB --format csv",
    false};

struct Options {
  CLI::App* explain = nullptr;  // the commands
  CLI::App* expand = nullptr;
  std::string format = "csv";  // of expand
  CallWords call;              // theirs
  std::string run;
  std::string planner = PlannerChoices().front().name;
  PlannerOptions planner_options;
  bool dump = false;
};

void DeclareLibrary(CLI::App* app, Options* options) {
  app->add_option("--nccl-library", options->planner_options.nccl_library, "Another libhacknccl.so")
      ->type_name("FILE");
}

void DeclareExplain(CLI::App* app, Options* options, CommonOptions* common) {
  CLI::App* command = options->explain = AddCommand(app, kExplain, common);
  DeclareCallWords(command, &options->call);
  DeclareLibrary(command, options);
  CheckOptions(command, [options] { return CheckCallWords(options->call); });
}

void DeclareExpand(CLI::App* app, Options* options, CommonOptions* common) {
  CLI::App* command = options->expand = AddCommand(app, kExpand, common);
  auto* run = command
                  ->add_option("run", options->run,
                               "Run directory, after simccl, instead of --cluster and a call")
                  ->type_name("RUN");
  DeclareCallWords(command, &options->call);
  for (const char* name : {"--cluster", "--group", "--collective", "--size"}) {
    command->get_option(name)->excludes(run);
  }
  command->add_option("--format", options->format, "csv, json or goal")
      ->type_name("FORMAT")
      ->capture_default_str();
  DeclareLibrary(command, options);
  CheckOptions(command, [options]() -> Status {
    ASSIGN_OR_RETURN(const FlowFormat format, ParseFlowFormat(options->format));
    if (options->run.empty()) return CheckCallWords(options->call);
    if (format != FlowFormat::kGoal) return OkStatus();
    return Error("a GOAL schedule is that of one call: give --cluster and a call, not RUN");
  });
}

void Declare(CLI::App* app, Options* options, CommonOptions* common) {
  DeclareExplain(app, options, common);
  DeclareExpand(app, options, common);
  app->add_option("run", options->run, "Run directory")->type_name("RUN");
  app->add_option("--planner", options->planner, "Who decides; 'help' lists the choices")
      ->capture_default_str();
  DeclareLibrary(app, options);
  app->add_flag("--dump,--text", options->dump,
                "Print the present RUN/2-flows.pb (with -v every step); plan nothing");
  CheckOptions(app, [options]() -> Status {
    if (options->planner == "help") return OkStatus();
    if (options->run.empty()) return MissingOption("RUN");
    RETURN_IF_ERROR(FindPlanner(options->planner));
    return OkStatus();
  });
}

Status PrintPlanners() {
  for (const PlannerChoice& choice : PlannerChoices()) {
    fmt::print("{:<10} {}\n", choice.name, choice.summary);
  }
  return OkStatus();
}

Status Dump(const Options& options, const CommonOptions& common, const WorkloadFile& workload) {
  ASSIGN_OR_RETURN(const FlowPlan flow_plan, ReadFlowPlan(options.run, workload));
  for (const Plan& plan : flow_plan.plans) fmt::print("{}", PlanText(plan, common.verbose));
  for (const FlowPlan::Assignment& use : flow_plan.assignments) {
    fmt::print("call {} in group {}: {}\n", use.call, use.group, flow_plan.plans[use.plan].name);
  }
  return OkStatus();
}

Stamp StampOf(const Options& options) {
  return {
      options.run,
      kTool.name,
      {options.run + "/" + kManifestName, NcclLibrary::Find(options.planner_options.nccl_library)},
      {"planner=" + options.planner, "nccl-library=" + options.planner_options.nccl_library},
      {options.run + "/" + kFlowPlanName}};
}

void Announce(const CommonOptions& common, const FlowPlan& flow_plan) {
  if (common.verbose) {
    for (const Plan& plan : flow_plan.plans) Report(kTool, common, Headline(plan));
  }
  int64_t steps = 0;
  for (const Plan& plan : flow_plan.plans) steps += CountPrimitives(plan);
  Report(kTool, common,
         fmt::format("{} plans for {} uses of calls in groups, {} steps", flow_plan.plans.size(),
                     flow_plan.assignments.size(), steps));
}

// Over all communicators of the run; inside each plan only where there is time for it.
Status CheckDeadlocks(const CommonOptions& common, const Workload& workload,
                      const FlowPlan& flow_plan) {
  if (common.check) {
    for (const Plan& plan : flow_plan.plans) RETURN_IF_ERROR(CheckPlanDeadlock(plan));
  }
  return CheckDeadlock(workload, flow_plan);
}

Result<FlowPlan> MakePlans(const CommonOptions& common, const Workload& workload,
                           CollectivePlanner* planner) {
  const bool shows_progress = !common.quiet && ::isatty(STDERR_FILENO) == 1;
  const auto show = [shows_progress](size_t done, size_t of) {
    if (shows_progress) Say(fmt::format("\r{}: {} of {} plans", kTool.name, done, of));
  };
  Result<FlowPlan> flow_plan = PlanWorkload(workload, planner, show);
  if (shows_progress) Say(fmt::format("\r{:40}\r", ""));
  return flow_plan;
}

Status RunExplain(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const SelectedCall selected,
                   SelectCall(options.call, options.planner_options.nccl_library));
  ASSIGN_OR_RETURN(const std::string text,
                   Explain(selected, options.planner_options.nccl_library, common.verbose));
  if (!common.check) fmt::print("{}", text);
  return OkStatus();
}

// The plans of a run directory; members are called by their number.
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

Status RunExpand(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const FlowFormat format, ParseFlowFormat(options.format));
  if (!options.run.empty()) return ExpandRun(options, common, format);
  ASSIGN_OR_RETURN(const SelectedCall selected,
                   SelectCall(options.call, options.planner_options.nccl_library));
  ASSIGN_OR_RETURN(const std::unique_ptr<CollectivePlanner> planner,
                   PlannerChoices().front().make(selected.topology, options.planner_options));
  RETURN_IF_ERROR(planner->OpenGroup(selected.Slots()));
  ASSIGN_OR_RETURN(const Plan plan, planner->PlanCall(selected.call));
  const bool in_switches =
      std::any_of(plan.connections.begin(), plan.connections.end(),
                  [](const Connection& connection) { return connection.reduction >= 0; });
  if (format == FlowFormat::kGoal && in_switches) {
    return Error("a GOAL schedule has no switches that sum, and NCCL uses them for this call");
  }
  if (!common.check) WriteFlows({{0, &plan, selected.ranks}}, format, stdout);
  return OkStatus();
}

Status Run(const Options& options, const CommonOptions& common) {
  if (options.expand->parsed()) return RunExpand(options, common);
  if (options.explain->parsed()) return RunExplain(options, common);
  if (options.planner == "help") return PrintPlanners();
  const bool writes = !common.check && !options.dump;
  if (writes && common.if_changed && IsUpToDate(StampOf(options))) {
    Report(kTool, common, "up to date");
    return OkStatus();
  }
  ASSIGN_OR_RETURN(
      const WorkloadFile workload,
      ReadWorkload(options.run, options.dump ? WorkloadParts::kTables : WorkloadParts::kAll));
  if (options.dump) return Dump(options, common, workload);
  if (writes) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kFlowPlanName));
  ASSIGN_OR_RETURN(const PlannerChoice* choice, FindPlanner(options.planner));
  ASSIGN_OR_RETURN(const std::unique_ptr<CollectivePlanner> planner,
                   choice->make(workload.workload.topology, options.planner_options));
  ASSIGN_OR_RETURN(const FlowPlan flow_plan, MakePlans(common, workload.workload, planner.get()));
  RETURN_IF_ERROR(CheckDeadlocks(common, workload.workload, flow_plan));
  Announce(common, flow_plan);
  if (!writes) return OkStatus();
  Provenance provenance;
  provenance.tool = kTool.name;
  provenance.inputs = {{kManifestName, workload.sha256}};
  provenance.options = {"planner=" + options.planner};
  RETURN_IF_ERROR(WriteFlowPlan(options.run, flow_plan, provenance));
  return SaveStamp(StampOf(options));
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  drydock::CommonOptions common;
  return drydock::RunTool(
      argc, argv, drydock::kTool, &common,
      [&](CLI::App* app) { drydock::Declare(app, &options, &common); },
      [&] { return drydock::Run(options, common); });
}
