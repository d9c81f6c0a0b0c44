// exec-engine what-if: how the iteration time changes if one input is faster.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "core/base/writable.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/sharing_file.h"
#include "exec-engine/command/choices.h"
#include "exec-engine/command/network_pick.h"
#include "exec-engine/commands.h"
#include "exec-engine/replay/what_if.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "exec-engine what-if", "Replays the iteration with one input at a time made faster.",
    "reads RUN/1-workload/, RUN/2-flows.pb and RUN/3-times.pb, writes RUN/4-what-if.pb",
    "exec-engine what-if out/gpt-22b --better 10 --network fluid", false};

struct Options {
  std::string run;
  std::string better = "10";
  std::string only;
  std::string network;  // empty: that of the timeline
  std::string threads = "auto";
  bool dump = false;
};

Result<double> ParseBetter(const std::string& text) {
  double better = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), better);
  if (error != std::errc() || end != text.data() + text.size() || !(better > 0 && better <= 1000)) {
    return Error(fmt::format("--better '{}' is not a percentage above 0 and at most 1000", text));
  }
  return better;
}

std::string NamesHelp() {
  std::string names;
  for (const WhatIfChange& change : WhatIfChanges()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", change.name, change.changed);
  }
  return names;
}

struct Inputs {
  WorkloadFile file;
  FlowPlan plan;
  KernelTimes times;
  Provenance provenance;
  std::string network;
};

Result<Inputs> ReadInputs(const Options& options) {
  Inputs out;
  ASSIGN_OR_RETURN(out.file, ReadWorkload(options.run, WorkloadParts::kAll));
  std::string plan_hash, times_hash;
  ASSIGN_OR_RETURN(out.plan, ReadFlowPlan(options.run, out.file, &plan_hash));
  ASSIGN_OR_RETURN(out.times, ReadKernelTimes(options.run, out.file, &times_hash));
  out.network = options.network;
  if (out.network.empty()) {
    ASSIGN_OR_RETURN(const Timeline timeline, ReadTimeline(options.run, out.file));
    out.network = timeline.network;
  }
  out.provenance = {"exec-engine what-if",
                    {{kManifestName, out.file.sha256},
                     {kFlowPlanName, plan_hash},
                     {kKernelTimesName, times_hash}},
                    {"network " + out.network, "better " + options.better}};
  if (!options.only.empty()) out.provenance.options.push_back("only " + options.only);
  return out;
}

Status Dump(const std::string& run) {
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run, WorkloadParts::kTables));
  ASSIGN_OR_RETURN(const WhatIf what_if, ReadWhatIf(run, file));
  fmt::print("{}", Printable(WhatIfText(what_if)));
  return OkStatus();
}

void Declare(CLI::App* command, Options* options) {
  command->add_option("run", options->run, "Run directory")->type_name("RUN");
  command
      ->add_option("--better", options->better,
                   "How much faster: rates times 1 + PERCENT / 100, times divided by it")
      ->type_name("PERCENT")
      ->capture_default_str();
  command
      ->add_option("--only", options->only,
                   "Only these changes, separated by commas: " + NamesHelp())
      ->type_name("NAMES");
  command
      ->add_option("--network", options->network,
                   "The network between hosts (default: that of RUN/4-timeline.pb)")
      ->type_name("NAME");
  command
      ->add_option("--threads", options->threads,
                   "Threads of the network, or 'auto' for the idle cores; never changes the result")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--dump,--text", options->dump,
                    "Print the present RUN/4-what-if.pb; replay nothing");
  CheckOptions(command, [options]() -> Status {
    if (options->run.empty()) return MissingOption("RUN");
    RETURN_IF_ERROR(ParseBetter(options->better));
    RETURN_IF_ERROR(FindChanges(options->only));
    if (!options->network.empty()) RETURN_IF_ERROR(FindNetwork(options->network));
    RETURN_IF_ERROR(ParseThreads(options->threads));
    return OkStatus();
  });
}

Status Run(const Options& options, const CommonOptions& common, Processes* processes) {
  if (processes->count() > 1) return Error("what-if runs in one process; leave out mpirun");
  if (options.dump) return Dump(options.run);
  ASSIGN_OR_RETURN(const RunLock lock, LockRun(kInfo, common, options.run));
  ASSIGN_OR_RETURN(Inputs inputs, ReadInputs(options));
  ASSIGN_OR_RETURN(const NetworkModel* network, FindNetwork(inputs.network));
  if (network == nullptr) {
    const NetworkPick pick = PickNetwork(inputs.file.workload, inputs.plan, 1);
    Report(kInfo, common, fmt::format("network auto: {}, {}", pick.network, pick.why));
    ASSIGN_OR_RETURN(network, FindNetwork(pick.network));
  }
  if (common.check) return OkStatus();
  RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kWhatIfName));
  WhatIfOptions what_if;
  ASSIGN_OR_RETURN(what_if.better, ParseBetter(options.better));
  ASSIGN_OR_RETURN(what_if.changes, FindChanges(options.only));
  ASSIGN_OR_RETURN(what_if.replay.network.threads, ParseThreads(options.threads));
  what_if.replay.network.processes = processes;
  what_if.replay.sharing = SharingOf(inputs.file.workload.topology);
  what_if.replay.variation = inputs.file.cluster.variation;
  what_if.replay.fold = Fold::kAuto;
  TaskProgress progress(kInfo, common);
  what_if.began = [&](const std::string& name) { progress.Show(name); };
  const Result<WhatIf> answers =
      AnswerWhatIf(std::move(inputs.file.workload), inputs.plan, inputs.times, *network, what_if);
  progress.End();
  if (!answers.ok()) return answers.error();
  RETURN_IF_ERROR(WriteWhatIf(options.run, *answers, inputs.provenance));
  if (!common.quiet) fmt::print("{}", Printable(WhatIfText(*answers)));
  return OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeWhatIfCommand(Processes* processes) {
  return MakeCommand<Options>(
      kInfo, [](CLI::App* app, Options* options, const CommonOptions&) { Declare(app, options); },
      [processes](const Options& options, const CommonOptions& common) {
        return Run(options, common, processes);
      },
      [](const Options& options) { return options.run; });
}

}  // namespace drydock
