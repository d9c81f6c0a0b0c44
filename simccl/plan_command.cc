// simccl RUN: reads 1-workload/, writes 2-flows.pb.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/base/writable.h"
#include "core/model/calls/step_cursor.h"
#include "core/model/deadlock/deadlock.h"
#include "core/nccl/nccl_library.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "core/schema/tokens/token_costs.h"
#include "simccl/commands.h"
#include "simccl/plan/plan_deadlock.h"
#include "simccl/plan/plan_text.h"
#include "simccl/plan/plan_workload.h"
#include "simccl/planner_table.h"

namespace drydock {
namespace {

const ToolInfo kTool = {"simccl",
                        "Plans each distinct communication call: what every member of its group "
                        "sends and receives.",
                        "reads RUN/1-workload/, writes RUN/2-flows.pb", "simccl runs/gpt-22b"};

struct Options {
  std::string run;
  std::string planner = PlannerChoices().front().name;
  PlannerOptions planner_options;
  bool dump = false;
};

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("run", options->run, "Run directory")->type_name("RUN");
  app->add_option("--planner", options->planner,
                  "The planner that decides; 'help' lists the choices")
      ->capture_default_str();
  DeclareLibrary(app, &options->planner_options.nccl_library);
  app->add_flag("--dump,--text", options->dump,
                "Print the existing RUN/2-flows.pb (with -v every step); plan nothing");
  CheckOptions(app, [options]() -> Status {
    if (options->planner == "help") return OkStatus();
    if (options->run.empty()) return MissingOption("RUN");
    RETURN_IF_ERROR(FindPlanner(options->planner));
    options->planner_options.file = FileOfPlanner(options->planner);
    return OkStatus();
  });
}

Status PrintPlanners() {
  for (const PlannerChoice& choice : PlannerChoices()) {
    fmt::print("{:<12} {}\n", UsageOf(choice), choice.summary);
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
  std::vector<std::string> inputs = {
      options.run + "/" + kManifestName, options.run + "/" + kTopologyName,
      NcclLibrary::Find(options.planner_options.nccl_library), TokenCostsPath()};
  if (!options.planner_options.file.empty()) inputs.push_back(options.planner_options.file);
  return {options.run,
          kTool.name,
          inputs,
          {"planner=" + options.planner, "nccl-library=" + options.planner_options.nccl_library},
          {options.run + "/" + kFlowPlanName}};
}

void Announce(const Options& options, const CommonOptions& common, const FlowPlan& flow_plan) {
  if (common.verbose) {
    for (const Plan& plan : flow_plan.plans) Report(kTool, common, Headline(plan));
  }
  int64_t steps = 0;
  for (const Plan& plan : flow_plan.plans) steps += CountPrimitives(plan);
  Report(kTool, common,
         fmt::format("{} plans for {} uses of calls in groups, {} steps", flow_plan.plans.size(),
                     flow_plan.assignments.size(), steps));
  if (options.planner_options.file.empty()) return;
  const auto custom = std::count_if(
      flow_plan.plans.begin(), flow_plan.plans.end(),
      [](const Plan& plan) { return plan.works.front().algorithm == Algorithm::kCustom; });
  Report(kTool, common,
         fmt::format("{}{} of {} plans follow {}; NCCL decides the others",
                     custom == 0 ? "warning: " : "", custom, flow_plan.plans.size(),
                     options.planner_options.file));
}

// Checks across all communicators of the run; inside each plan only with --check, as that takes
// long.
Status CheckDeadlocks(const CommonOptions& common, const Workload& workload,
                      const FlowPlan& flow_plan) {
  if (common.check) {
    for (const Plan& plan : flow_plan.plans) RETURN_IF_ERROR(CheckPlanDeadlock(plan));
  }
  return CheckDeadlock(workload, flow_plan);
}

Result<FlowPlan> MakePlans(const CommonOptions& common, const Workload& workload,
                           CollectivePlanner* planner) {
  TaskProgress progress(kTool, common);
  return PlanWorkload(workload, planner,
                      [&](size_t done, size_t of) { progress.Show("plans", done, of); });
}

Status Run(const Options& options, const CommonOptions& common) {
  if (options.planner == "help") return PrintPlanners();
  const bool writes = !common.check && !options.dump;
  RunLock lock;
  if (writes) {
    ASSIGN_OR_RETURN(lock, LockRun(kTool, common, options.run));
  }
  if (writes && SkipsRun(StampOf(options), kTool, common)) return OkStatus();
  ASSIGN_OR_RETURN(
      const WorkloadFile workload,
      ReadWorkload(options.run, options.dump ? WorkloadParts::kTables : WorkloadParts::kAll));
  if (options.dump) return Dump(options, common, workload);
  if (writes) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kFlowPlanName));
  ASSIGN_OR_RETURN(const PlannerChoice* choice, FindPlanner(options.planner));
  ASSIGN_OR_RETURN(const std::unique_ptr<CollectivePlanner> planner,
                   MakePlanner(*choice, workload.workload.topology, options.planner_options));
  ASSIGN_OR_RETURN(const FlowPlan flow_plan, MakePlans(common, workload.workload, planner.get()));
  RETURN_IF_ERROR(CheckDeadlocks(common, workload.workload, flow_plan));
  Announce(options, common, flow_plan);
  if (!writes) return OkStatus();
  Provenance provenance;
  provenance.tool = kTool.name;
  provenance.inputs = {{kManifestName, workload.sha256}};
  if (!options.planner_options.file.empty()) {
    const Result<std::string> hash = Sha256OfFile(options.planner_options.file);
    provenance.inputs.push_back({BaseName(options.planner_options.file), hash.ok() ? *hash : ""});
  }
  provenance.options = {"planner=" + options.planner};
  RETURN_IF_ERROR(WriteFlowPlan(options.run, flow_plan, provenance));
  return SaveStamp(StampOf(options));
}

std::string Subject(const Options& options) { return options.run; }

}  // namespace

void DeclareLibrary(CLI::App* app, std::string* library) {
  app->add_option("--nccl-library", *library, "Another libhacknccl.so")->type_name("FILE");
}

std::unique_ptr<Command> MakePlanCommand() {
  return MakeCommand<Options>(kTool, Declare, Run, Subject);
}

}  // namespace drydock
