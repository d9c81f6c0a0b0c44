// exec-engine RUN: reads 1-workload/, 2-flows.pb and 3-times.pb, writes 4-timeline.pb.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "core/base/installation.h"
#include "core/base/processes.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/model/fabric/transport_attributes_page.h"
#include "core/model/timeline.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "core/schema/cluster/sharing_file.h"
#include "exec-engine/command/choices.h"
#include "exec-engine/command/network_pick.h"
#include "exec-engine/commands.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/timeline_dump.h"
#include "exec-engine/watched_replay.h"
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
  std::string network = kPacketNetwork;
  std::string threads = "auto";
  std::string partitioning = "neighbours";
  std::string network_log;
  std::vector<std::string> captures;
  std::string until;
  std::string fold = "auto";
  int iterations = 1;
  bool dump = false;
  bool transport_attributes = false;
};

constexpr int kMaxIterations = 1000;

// Returns Time::Max() for an empty text.
Result<Time> ParseUntil(const std::string& text) {
  if (text.empty()) return Time::Max();
  const Result<Time> until = ParseTime(text);
  if (!until.ok()) return Error(fmt::format("--until {}: {}", text, until.error().message()));
  if (*until <= Time()) return Error(fmt::format("--until {}: the run must take some time", text));
  return until;
}

Status CheckLength(const Options& options) {
  RETURN_IF_ERROR(ParseUntil(options.until));
  if (options.iterations < 1 || options.iterations > kMaxIterations) {
    return Error(fmt::format("--iterations is a number from 1 to {}, not {}", kMaxIterations,
                             options.iterations));
  }
  if (options.iterations > 1 && !options.until.empty()) {
    return Error("--until and --iterations exclude each other");
  }
  return OkStatus();
}

// Returns the options that change the timeline.
std::vector<std::string> ResultOptions(const Options& options) {
  std::vector<std::string> out = {"network " + options.network};
  if (!options.until.empty()) out.push_back("until " + options.until);
  if (options.iterations > 1) out.push_back(fmt::format("iterations {}", options.iterations));
  if (options.fold != "auto") out.push_back("fold " + options.fold);
  return out;
}

// Returns zero for an empty text.
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

// A capture may overwrite an older capture, but no other file.
Status CheckOverwrites(const std::string& path) {
  constexpr std::string_view kMagic = "\x4d\x3c\xb2\xa1";  // pcap with nanoseconds, as we write it
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (file.gcount() == 0 || begin == kMagic) return OkStatus();
  return Error("this file exists and is not a capture; name another file", {path});
}

void Declare(CLI::App* app, Options* options) {
  app->add_option("run", options->run, "Run directory")->type_name("RUN");
  app->add_option("--network", options->network,
                  "The network between hosts; 'help' lists the choices")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--threads", options->threads,
                  "Threads of the network, or 'auto' for the idle cores; never changes the result")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--partitioning", options->partitioning,
                  "How hosts and switches are divided among processes and threads: neighbours, "
                  "in-turns or by-layer; never changes the result")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--network-log", options->network_log,
                  "Write RUN/4-links.csv, every link once an INTERVAL ('100 us'), "
                  "RUN/4-messages.csv, every message, and RUN/4-slowdown.csv, by size")
      ->type_name("INTERVAL");
  app->add_option("--pcap", options->captures,
                  "Write the frames on a cable to FILE: all cables of a NIC or switch "
                  "('host 0/nic0=x.pcap'), or those between two ('leaf0,spine1=x.pcap')")
      ->type_name("LINK=FILE");
  app->add_option("--until", options->until,
                  "Stop at this simulated time ('5 ms'): the timeline then ends there")
      ->type_name("TIME");
  app->add_option("--iterations", options->iterations,
                  "Replay N iterations one after another; the timeline is that of the last one")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--fold", options->fold,
                  "Replay one representative of equivalent hosts: off, exact, relaxed (of nearly "
                  "equivalent hosts), or auto: relaxed from 512 ranks on, or where exact leaves "
                  "128; else exact over the analytical network; always off over packets")
      ->type_name("KIND")
      ->capture_default_str();
  app->add_flag("--dump,--text", options->dump,
                "Print the present RUN/4-timeline.pb; replay nothing");
  app->add_flag("--transport-attributes", options->transport_attributes,
                "Print the attributes that 'transport: attributes:' of a cluster file accepts, in "
                "Markdown; replay nothing");
  CheckOptions(app, [options]() -> Status {
    if (options->network == "help" || options->transport_attributes) return OkStatus();
    if (options->run.empty()) return MissingOption("RUN");
    ASSIGN_OR_RETURN(const NetworkModel* network, FindNetwork(options->network));
    RETURN_IF_ERROR(ParseThreads(options->threads));
    RETURN_IF_ERROR(CheckPartitioning(options->partitioning));
    RETURN_IF_ERROR(ParseInterval(options->network_log));
    RETURN_IF_ERROR(CheckCaptures(options->captures));
    RETURN_IF_ERROR(CheckLength(*options));
    RETURN_IF_ERROR(CheckFold(options->fold, network));
    if (!options->captures.empty() && (network == nullptr || !network->sends_packets)) {
      return Error(fmt::format("--pcap needs --network packet, not {}", options->network));
    }
    return OkStatus();
  });
}

int64_t CountOps(const Workload& workload) {
  int64_t ops = 0;
  for (const int c : workload.class_of_rank) {
    ops += static_cast<int64_t>(workload.programs[static_cast<size_t>(c)].ops.size());
  }
  return ops;
}

std::string Outcome(const Workload& workload, const Timeline& timeline) {
  const std::string what =
      fmt::format("ops of {} ranks over the {} network", timeline.ranks.size(), timeline.network);
  if (timeline.stopped > Time()) {
    return fmt::format("{} of {} {}: stopped at {}", timeline.ops_ended, CountOps(workload), what,
                       ToString(timeline.stopped));
  }
  std::string out =
      fmt::format("{} {}: iteration {}", CountOps(workload), what, ToString(timeline.iteration));
  const std::vector<Time>& each = timeline.iterations;
  if (each.empty()) return out;
  const auto [least, most] = std::minmax_element(each.begin(), each.end());
  return out + fmt::format(", the last of {} that took {} to {}", each.size(), ToString(*least),
                           ToString(*most));
}

struct Inputs {
  WorkloadFile file;
  FlowPlan plan;
  KernelTimes times;
  Provenance provenance;
};

Result<Inputs> ReadInputs(const Options& options, bool writes) {
  ASSIGN_OR_RETURN(WorkloadFile file, ReadWorkload(options.run, WorkloadParts::kAll));
  // A log changes no time (only the number of windows), so it is not in the provenance.
  Provenance provenance{"exec-engine", {{kManifestName, file.sha256}}, ResultOptions(options)};
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

// Returns an error unless all processes compute the same run. Otherwise they would wait for each
// other forever.
Status CheckSame(const Options& options, const Provenance& provenance, Processes* processes) {
  std::string own =
      fmt::format("{} {} {}", DrydockVersion(), options.partitioning, options.network_log);
  for (const std::string& option : ResultOptions(options)) own += " " + option;
  for (const std::string& capture : options.captures) own += " " + capture;
  for (const auto& input : provenance.inputs) own += " " + input.sha256;
  const std::vector<std::string> all = processes->GatherAll(own);
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[0]) continue;
    return Error(
        fmt::format("process {} is given another run, other options or another version "
                    "than process 0; mpirun must start every process with the same arguments",
                    i),
        {options.run});
  }
  return OkStatus();
}

Status Write(const Options& options, const Timeline& timeline, const Provenance& provenance,
             const NetworkLog* log, const Stamp& stamp) {
  RETURN_IF_ERROR(WriteTimeline(options.run, timeline, provenance));
  // Neither a log of another timeline nor answers of what-if about it may lie beside this timeline.
  RemoveNetworkLog(options.run);
  std::error_code none;
  std::filesystem::remove(options.run + "/" + kWhatIfName, none);
  if (log != nullptr) RETURN_IF_ERROR(WriteNetworkLog(options.run, *log));
  return SaveStamp(stamp);
}

// Returns the network of the run. Sets `expected` to the number of packets if that number decides.
Result<const NetworkModel*> ChooseNetwork(const Options& options, const CommonOptions& common,
                                          const Inputs& inputs, Processes* processes,
                                          std::optional<int64_t>* expected) {
  ASSIGN_OR_RETURN(const NetworkModel* network, FindNetwork(options.network));
  if (network != nullptr) return network;
  const NetworkPick pick = PickNetwork(inputs.file.workload, inputs.plan, processes->count());
  *expected = pick.packets;
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
  std::optional<int64_t> expected;
  ASSIGN_OR_RETURN(const NetworkModel* choice,
                   ChooseNetwork(options, common, *inputs, processes, &expected));
  const NetworkModel& network = *choice;
  const std::vector<std::string> unused = UnusedSettings(network, workload.topology);
  if (!unused.empty()) {
    Report(kInfo, common, fmt::format("the {} network ignores {}", network.name, Join(unused)));
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
  ASSIGN_OR_RETURN(replay.until, ParseUntil(options.until));
  replay.iterations = options.iterations;
  ASSIGN_OR_RETURN(replay.fold, FindFold(options.fold));
  replay.sharing = SharingOf(workload.topology);
  replay.variation = inputs->file.cluster.variation;
  Result<Timeline> timeline =
      ReplayWatched(kInfo, common, workload, inputs->plan, inputs->times, network, replay);
  if (!timeline.ok()) return timeline.error();
  if (!processes->first()) return OkStatus();
  timeline->slowdowns = SlowdownsOf(log);
  if (expected) timeline->counters.emplace_back("packets foreseen", *expected);
  RETURN_IF_ERROR(Write(options, *timeline, inputs->provenance, replay.log, stamp));
  Report(kInfo, common, Outcome(workload, *timeline));
  return OkStatus();
}

Stamp StampOf(const Options& options) {
  Stamp stamp{options.run,
              "exec-engine",
              {options.run + "/" + kManifestName, options.run + "/" + kTopologyName,
               options.run + "/" + kFlowPlanName, options.run + "/" + kKernelTimesName},
              ResultOptions(options),
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
  if (options.network == "help") {
    fmt::print("{}", NetworksText());
    return OkStatus();
  }
  if (options.transport_attributes) {
    fmt::print("{}", TransportAttributesPage());
    return OkStatus();
  }
  if (options.dump)
    return processes->first() ? DumpTimeline(options.run, common.verbose) : OkStatus();
  // The first process writes for all.
  Result<RunLock> lock = processes->first() ? LockRun(kInfo, common, options.run) : RunLock();
  RETURN_IF_ERROR(processes->Agree(lock.ok() ? OkStatus() : Status(lock.error())));
  const Stamp stamp = StampOf(options);
  if (common.if_changed && !common.check) {
    // The first process decides: another process may check after the first one has begun to write.
    const std::string current = processes->first() && IsUpToDate(stamp) ? "yes" : "no";
    if (processes->GatherAll(current)[0] == "yes") {
      Report(kInfo, common, "up to date");
      return OkStatus();
    }
  }
  return ReplayRun(options, common, stamp, processes);
}

}  // namespace

std::unique_ptr<Command> MakeReplayCommand(Processes* processes) {
  return MakeCommand<Options>(
      kInfo, [](CLI::App* app, Options* options, const CommonOptions&) { Declare(app, options); },
      [processes](const Options& options, const CommonOptions& common) {
        return Run(options, common, processes);
      },
      [](const Options& options) { return options.run; });
}

}  // namespace drydock
