// exec-engine: 1-workload/, 2-flows.pb and 3-times.pb in, 4-timeline.pb out. Parses flags; the work
// is in replay.h.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "core/base/cli.h"
#include "core/base/processes.h"
#include "core/base/spelling.h"
#include "core/base/version.h"
#include "core/base/writable.h"
#include "core/schema/artefacts.h"
#include "core/schema/stamp.h"
#include "exec-engine/accounting.h"
#include "exec-engine/choices.h"
#include "exec-engine/network_pick.h"
#include "exec-engine/replay.h"
#include "exec-engine/what_if_command.h"
#include "ns3-backend/mpi_processes.h"
#include "ns3-backend/packet_network.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "exec-engine",
    "Replays every rank's ops over a network: when each starts and ends.",
    "reads RUN/1-workload/, RUN/2-flows.pb and RUN/3-times.pb, writes RUN/4-timeline.pb",
    "exec-engine out/gpt-22b --network analytical",
};

struct Options {
  std::string run;
  std::string network = "packet";
  std::string threads = "auto";
  std::string partitioning = "neighbours";
  std::string network_log;
  std::vector<std::string> captures;
  bool dump = false;
  WhatIfCommand what_if;
};

// Zero if there is none.
Result<Time> ParseInterval(const std::string& text) {
  if (text.empty()) return Time();
  const Result<Time> parsed = ParseTime(text);
  if (!parsed.ok()) return Error("--network-log: " + parsed.error().message());
  const Time interval = *parsed;
  if (interval < Time::Ns(100)) {
    return Error(fmt::format("--network-log {}: the interval must be at least 100 ns", text));
  }
  return interval;
}

// "host 0/nic0=file", "leaf0,spine1=file"
Result<CaptureOptions> ParseCapture(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string ends = text.substr(0, equals);
  const size_t comma = ends.find(',');
  CaptureOptions capture;
  capture.end = ends.substr(0, comma);
  if (comma != std::string::npos) capture.other_end = ends.substr(comma + 1);
  if (equals != std::string::npos) capture.file = text.substr(equals + 1);
  const bool whole = comma == std::string::npos || !capture.other_end.empty();
  if (capture.end.empty() || !whole || capture.file.empty()) {
    return Error(fmt::format("--pcap '{}' is not END=FILE or END,END=FILE", text));
  }
  return capture;
}

Status CheckCaptures(const std::vector<std::string>& texts) {
  std::set<std::string> files;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const CaptureOptions capture, ParseCapture(text));
    if (!files.insert(capture.file).second) {
      return Error(fmt::format("--pcap: two captures into '{}'", capture.file));
    }
  }
  return OkStatus();
}

// A capture may go over an older one, not over anything else.
Status CheckOverwrites(const std::string& path) {
  constexpr std::string_view kMagic = "\x4d\x3c\xb2\xa1";  // pcap with nanoseconds, as we write it
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (file.gcount() == 0 || begin == kMagic) return OkStatus();
  return Error("this is there and no capture; name another file", {path});
}

void Declare(CLI::App* app, CommonOptions* common, Options* options) {
  DeclareWhatIf(app, common, &options->what_if);
  app->add_option("run", options->run, "Run directory")->type_name("RUN");
  app->add_option("--network", options->network,
                  "What carries bytes between hosts; 'help' lists the choices")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--threads", options->threads,
                  "Threads of the network, or 'auto' for the idle cores; never changes the result")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--partitioning", options->partitioning,
                  "How hosts and switches are dealt out to processes and threads: neighbours, "
                  "in-turns or by-layer; never changes the result")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--network-log", options->network_log,
                  "Write RUN/4-links.csv, every link once an INTERVAL ('100 us'), "
                  "RUN/4-messages.csv, every message, and RUN/4-slowdown.csv, by size")
      ->type_name("INTERVAL");
  app->add_option("--pcap", options->captures,
                  "Write what passes over a cable into FILE: all cables of a NIC or switch "
                  "('host 0/nic0=x.pcap'), or those between two ('leaf0,spine1=x.pcap')")
      ->type_name("LINK=FILE");
  app->add_flag("--dump,--text", options->dump,
                "Print the present RUN/4-timeline.pb; replay nothing");
  CheckOptions(app, [options]() -> Status {
    if (options->network == "help") return OkStatus();
    if (options->run.empty()) return MissingOption("RUN");
    RETURN_IF_ERROR(FindNetwork(options->network));
    RETURN_IF_ERROR(ParseThreads(options->threads));
    RETURN_IF_ERROR(CheckPartitioning(options->partitioning));
    RETURN_IF_ERROR(ParseInterval(options->network_log));
    RETURN_IF_ERROR(CheckCaptures(options->captures));
    if (!options->captures.empty() && options->network != "packet") {
      return Error(fmt::format("--pcap needs --network packet, not {}", options->network));
    }
    return OkStatus();
  });
}

// One table of the ranks' accounts, the first rank of each distinct account.
void PrintAccounts(const Timeline& timeline) {
  fmt::print("{:>6} {:>12} {:>12} {:>12}", "rank", "compute", "host", "bubble");
  for (const std::string& name : DimensionNames()) fmt::print(" {:>12}", name);
  fmt::print(" {:>12} {:>12}\n", "memory", "idle");
  for (size_t rank = 0; rank < timeline.accounts.size(); ++rank) {
    const TimeAccount& a = timeline.accounts[rank];
    fmt::print("{:>6} {:>12} {:>12} {:>12}", rank, ToString(a.compute), ToString(a.host),
               ToString(a.bubble));
    for (const Time exposed : a.exposed) fmt::print(" {:>12}", ToString(exposed));
    fmt::print(" {:>12} {:>12}\n", ToString(a.memory), ToString(a.idle));
  }
}

void PrintOps(const Workload& workload, const Timeline& timeline) {
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const RankTimeline& t = timeline.ranks[static_cast<size_t>(rank)];
    const Program& program =
        workload.programs[static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)])];
    for (size_t i = 0; i < t.start.size(); ++i) {
      const Op& op = program.ops[i];
      const std::string what =
          op.kind == OpKind::kCompute ? workload.blocks[op.work].name
          : UsesMemory(op.kind)       ? OpKindName(op.kind) + " " + workload.transfers[op.work].name
          : op.kind == OpKind::kSend  ? "send"
          : op.kind == OpKind::kRecv
              ? "receive"
              : CollectiveTypeNames()[static_cast<size_t>(workload.calls[op.work].collective)];
      fmt::print("rank {} op {} {} {}: start {} ready {} end {} ps\n", rank, i,
                 workload.streams[op.stream], what, t.start[i].ps(), t.ready[i].ps(),
                 t.end[i].ps());
    }
  }
}

Status Dump(const Options& options, bool verbose) {
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(options.run, WorkloadParts::kAll));
  ASSIGN_OR_RETURN(const Timeline timeline, ReadTimeline(options.run, file));
  fmt::print("network {}, iteration {} ({} ps)\n", timeline.network, ToString(timeline.iteration),
             timeline.iteration.ps());
  for (const auto& [name, value] : timeline.counters) fmt::print("{}: {}\n", name, value);
  PrintAccounts(timeline);
  if (verbose) PrintOps(file.workload, timeline);
  return OkStatus();
}

int64_t CountOps(const Workload& workload) {
  int64_t ops = 0;
  for (const int c : workload.class_of_rank) {
    ops += static_cast<int64_t>(workload.programs[static_cast<size_t>(c)].ops.size());
  }
  return ops;
}

void ShowProgress(int64_t ended, int64_t all) {
  Say(fmt::format("\r{}: {} %", kInfo.name, all == 0 ? 100 : ended * 100 / all));
}

struct Inputs {
  WorkloadFile file;
  FlowPlan plan;
  KernelTimes times;
  Provenance provenance;
};

Result<Inputs> ReadInputs(const Options& options, bool writes) {
  ASSIGN_OR_RETURN(WorkloadFile file, ReadWorkload(options.run, WorkloadParts::kAll));
  // A log changes no time (only the count of windows), so it is no part of the provenance.
  Provenance provenance{
      "exec-engine", {{kManifestName, file.sha256}}, {"network " + options.network}};
  std::string plan_hash, times_hash;
  ASSIGN_OR_RETURN(FlowPlan plan, ReadFlowPlan(options.run, file, &plan_hash));
  ASSIGN_OR_RETURN(KernelTimes times, ReadKernelTimes(options.run, file, &times_hash));
  provenance.inputs.push_back({kFlowPlanName, plan_hash});
  provenance.inputs.push_back({kKernelTimesName, times_hash});
  if (writes) {
    RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kTimelineName));
    for (const std::string& text : options.captures) {
      ASSIGN_OR_RETURN(const CaptureOptions capture, ParseCapture(text));
      RETURN_IF_ERROR(CheckCanWrite(capture.file));
      RETURN_IF_ERROR(CheckOverwrites(capture.file));
    }
  }
  return Inputs{std::move(file), std::move(plan), std::move(times), std::move(provenance)};
}

// Processes that compute different runs would wait for each other for ever.
Status CheckSame(const Options& options, const Provenance& provenance, Processes* processes) {
  std::string own = fmt::format("{} {} {} {}", kDrydockVersion, options.network,
                                options.partitioning, options.network_log);
  for (const std::string& capture : options.captures) own += " " + capture;
  for (const auto& input : provenance.inputs) own += " " + input.sha256;
  const std::vector<std::string> all = processes->GatherAll(own);
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[0]) continue;
    return Error(fmt::format("process {} is given another run, other options or another version "
                             "than process 0; mpirun must start the same everywhere",
                             i),
                 {options.run});
  }
  return OkStatus();
}

Status Write(const Options& options, const Timeline& timeline, const Provenance& provenance,
             const NetworkLog* log, const Stamp& stamp) {
  RETURN_IF_ERROR(WriteTimeline(options.run, timeline, provenance));
  // A log of another timeline must not lie beside this one, nor what was asked about it.
  RemoveNetworkLog(options.run);
  std::error_code none;
  std::filesystem::remove(options.run + "/" + kWhatIfName, none);
  if (log != nullptr) RETURN_IF_ERROR(WriteNetworkLog(options.run, *log));
  return SaveStamp(stamp);
}

// What carries the run; `foreseen` gets the count of packets where that decides.
Result<const NetworkChoice*> ChooseNetwork(const Options& options, const CommonOptions& common,
                                           const Inputs& inputs, Processes* processes,
                                           std::optional<int64_t>* foreseen) {
  ASSIGN_OR_RETURN(const NetworkChoice* network, FindNetwork(options.network));
  if (network != nullptr) return network;
  const NetworkPick pick = PickNetwork(inputs.file.workload, inputs.plan, processes->count());
  *foreseen = pick.packets;
  if (processes->first()) {
    Report(kInfo, common, fmt::format("network auto: {}, {}", pick.network, pick.why));
  }
  return FindNetwork(pick.network);
}

Status ReplayRun(const Options& options, const CommonOptions& common, const Stamp& stamp,
                 Processes* processes) {
  const Result<Inputs> inputs = ReadInputs(options, processes->first() && !common.check);
  RETURN_IF_ERROR(processes->Agree(inputs.ok() ? OkStatus() : Status(inputs.error())));
  RETURN_IF_ERROR(CheckSame(options, inputs->provenance, processes));
  const Workload& workload = inputs->file.workload;
  std::optional<int64_t> foreseen;
  ASSIGN_OR_RETURN(const NetworkChoice* choice,
                   ChooseNetwork(options, common, *inputs, processes, &foreseen));
  const NetworkChoice& network = *choice;
  const std::vector<std::string> unused = UnusedSettings(network, workload.topology);
  if (!unused.empty()) {
    Report(kInfo, common,
           fmt::format("the {} network does not look at {}", network.name, Join(unused)));
  }
  if (common.check) return OkStatus();
  ReplayOptions replay;
  ASSIGN_OR_RETURN(replay.network.threads, ParseThreads(options.threads, processes->count_here()));
  replay.network.partitioning = options.partitioning;
  replay.network.processes = processes;
  ASSIGN_OR_RETURN(replay.network.log_interval, ParseInterval(options.network_log));
  for (const std::string& text : options.captures) {
    ASSIGN_OR_RETURN(const CaptureOptions capture, ParseCapture(text));
    replay.network.captures.push_back(capture);
  }
  NetworkLog log;
  if (!options.network_log.empty()) replay.log = &log;
  const bool shows_progress = !common.quiet && ::isatty(STDERR_FILENO) == 1;
  if (shows_progress) replay.progress = ShowProgress;
  Result<Timeline> timeline = Replay(workload, inputs->plan, inputs->times, network, replay);
  if (shows_progress) Say(fmt::format("\r{:40}\r", ""));
  if (!timeline.ok()) return timeline.error();
  if (!processes->first()) return OkStatus();
  timeline->slowdowns = SlowdownsOf(log);
  if (foreseen) timeline->counters.emplace_back("packets foreseen", *foreseen);
  RETURN_IF_ERROR(Write(options, *timeline, inputs->provenance, replay.log, stamp));
  Report(kInfo, common,
         fmt::format("{} ops of {} ranks over the {} network: iteration {}", CountOps(workload),
                     timeline->ranks.size(), timeline->network, ToString(timeline->iteration)));
  return OkStatus();
}

Stamp StampOf(const Options& options) {
  Stamp stamp{options.run,
              "exec-engine",
              {options.run + "/" + kManifestName, options.run + "/" + kFlowPlanName,
               options.run + "/" + kKernelTimesName},
              {"network " + options.network},
              {options.run + "/" + kTimelineName}};
  if (!options.network_log.empty()) {
    stamp.options.push_back("network-log " + options.network_log);
    for (const char* name : {kLinkLogName, kMessageLogName, kSlowdownName}) {
      stamp.outputs.push_back(options.run + "/" + name);
    }
  }
  for (const std::string& capture : options.captures) {
    stamp.options.push_back("pcap " + capture);
    stamp.outputs.push_back(ParseCapture(capture).value().file);
  }
  return stamp;
}

Status Run(const Options& options, const CommonOptions& common, Processes* processes) {
  if (options.what_if.command->parsed()) return RunWhatIf(options.what_if, common, processes);
  if (options.network == "help") {
    fmt::print("{}", NetworksText());
    return OkStatus();
  }
  if (options.dump) return processes->first() ? Dump(options, common.verbose) : OkStatus();
  const Stamp stamp = StampOf(options);
  if (common.if_changed && !common.check) {
    // The first one's word counts: others may look when it has begun to write.
    const std::string current = processes->first() && IsUpToDate(stamp) ? "yes" : "no";
    if (processes->GatherAll(current)[0] == "yes") {
      Report(kInfo, common, "up to date");
      return OkStatus();
    }
  }
  return ReplayRun(options, common, stamp, processes);
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Processes& processes = drydock::JoinProcesses();
  drydock::Options options;
  drydock::CommonOptions common;
  return drydock::LeaveProcesses(drydock::RunTool(
      argc, argv, drydock::kInfo, &common,
      [&](CLI::App* app) { drydock::Declare(app, &common, &options); },
      [&] { return drydock::Run(options, common, &processes); }));
}
