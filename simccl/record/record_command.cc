// nccl-record CLUSTER -o RUN -- PROGRAM ...: runs a program written against nccl.h as virtual ranks
// and writes its calls as RUN/1-workload/. With --schedule the program plays a workload. This file
// only parses flags; the library does the work.
#include "simccl/record/record_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/writable.h"
#include "core/nccl/nccl_library.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/cluster/nic_file.h"
#include "core/schema/cluster/processor_file.h"
#include "simccl/record/log/match.h"
#include "simccl/record/log/recording.h"
#include "simccl/record/run/session.h"
#include "simccl/record/schedule/play_schedule.h"
#include "simccl/record/workload/recorded_workload.h"

namespace drydock {
namespace {

const ToolInfo kTool = {
    "nccl-record",
    "Runs a program written against nccl.h as the virtual ranks of a cluster, all on this machine, "
    "and turns its NCCL calls into a workload.",
    "reads cluster.topo (docs/reference/cluster-file.md), runs PROGRAM with this build's "
    "libnccl.so.2 and "
    "libcudart.so; with --schedule reads another run's 1-workload/ and plays it; writes "
    "RUN/1-workload/: manifest.pb, topology.pb and a Chakra trace per rank class "
    "(docs/how-to/record-an-nccl-program.md)",
    "nccl-record configs/clusters/dgx-a100-80g-1.topo -o runs/mine -- ./my_program 1048576"};

struct Options {
  std::string cluster;
  std::string schedule;
  std::string run;
  std::string nccl_library;
  std::vector<std::string> overrides;
  RecordOptions record;
};

Status CheckInput(const Options& options) {
  if (options.schedule.empty()) {
    if (options.cluster.empty()) return MissingOption("cluster");
    if (options.record.command.empty()) return MissingOption("program");
    return CheckClusterOverrides(options.overrides);
  }
  if (!options.cluster.empty()) {
    return Error(
        "--schedule: the workload names its cluster; give neither a cluster nor a program");
  }
  if (options.overrides.empty()) return OkStatus();
  return Error("--schedule: --set cannot change a workload that exists");
}

void Declare(CLI::App* app, Options* options, const CommonOptions& common) {
  app->add_option("cluster", options->cluster, "The cluster (cluster.topo)");
  app->add_option("program", options->record.command, "The program and its arguments, after --");
  app->add_option(
         "--schedule", options->schedule,
         "Instead of cluster and program: plays the workload of this run directory, with the "
         "groups and the calls of every rank, through nccl.h")
      ->type_name("RUN");
  app->add_option("-o,--out", options->run, "Run directory");
  app->add_option("--set", options->overrides,
                  "section.key=value: replaces a value of the cluster; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--ranks", options->record.ranks,
                  "GPUs in use, starting with the first of the cluster (default: all)")
      ->check(CLI::PositiveNumber);
  app->add_option("--gpus-per-process", options->record.gpus_per_process,
                  "GPUs per process; more than one for ncclCommInitAll and threads")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--patience", options->record.patience_s,
                  "Seconds that all processes may wait for each other before nccl-record gives up")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--nccl-library", options->nccl_library, "Another libhacknccl.so")
      ->type_name("FILE");
  CheckOptions(app, [options, &common]() -> Status {
    RETURN_IF_ERROR(CheckInput(*options));
    if (options->run.empty() && !common.check) return MissingOption("-o RUN");
    return OkStatus();
  });
}

// Checks the options and fills in defaults.
Status Complete(const Topology& topology, Options* options) {
  RecordOptions& record = options->record;
  if (record.ranks == 0) record.ranks = topology.gpu_count();
  if (record.ranks > topology.gpu_count()) {
    return Error(
        fmt::format("--ranks {}: the cluster has {} GPUs", record.ranks, topology.gpu_count()),
        {options->cluster, 0, 0});
  }
  record.libraries = DirectoryOf(NcclLibrary::Find(options->nccl_library)) + "/drop-in/lib";
  for (const std::string& file :
       {record.libraries + "/libnccl.so.2", ScheduleProgram(record.libraries)}) {
    if (!FileExists(file)) {
      return Error("missing; run scripts/setup.sh to build it", {file, 0, 0});
    }
  }
  return OkStatus();
}

void Announce(const CommonOptions& common, const Recording& recording, const Workload& workload) {
  size_t calls = 0;
  uint64_t kernels = 0, copies = 0;
  for (const RecordedRank& rank : recording.ranks) {
    for (const RecordEntry& entry : rank.entries) calls += entry.kind == RecordKind::kCall ? 1 : 0;
    kernels += rank.kernels;
    copies += rank.copies;
  }
  Report(kTool, common,
         fmt::format("{}: {}, {} in {}, {}", workload.totals.model_name, workload.totals.layout,
                     Plural(calls, "call"), Plural(recording.communicators.size(), "communicator"),
                     Plural(workload.class_count, "class")));
  if (kernels + copies > 0) {
    Report(kTool, common,
           fmt::format("left out, since their times are unknown: {} kernels and {} copies or fills "
                       "of the program itself",
                       kernels, copies));
  }
}

Result<Recording> Record(const Topology& topology, const RecordOptions& options) {
  ASSIGN_OR_RETURN(const StagedDirectory folder, RecordProgram(topology, options));
  std::vector<int> hosts;
  for (const RecordProcess& process : PlanProcesses(topology, options))
    hosts.push_back(process.host);
  return ReadRecording(folder.path(), hosts, topology);
}

// Returns the path at which the system finds the program, or `program` if it finds none.
std::string PathOf(const std::string& program) {
  const char* path = program.find('/') == std::string::npos ? std::getenv("PATH") : nullptr;
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return folder + "/" + program;
  }
  return program;
}

Stamp StampOf(const Options& options, const ClusterInput& cluster) {
  const RecordOptions& record = options.record;
  std::vector<std::string> flags = record.command;
  flags.push_back(
      fmt::format("ranks={} gpus-per-process={}", record.ranks, record.gpus_per_process));
  flags.push_back(options.cluster + " " + Sha256(cluster.yaml));
  for (const auto& [name, text] : cluster.files) flags.push_back(name + " " + Sha256(text));
  return {options.run,
          kTool.name,
          {PathOf(record.command.front()), record.libraries + "/libnccl.so.2", NicPath(),
           ProcessorPath()},
          flags,
          {options.run + "/" + kManifestName, options.run + "/" + kTopologyName}};
}

Status RunProgram(Options options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, options.overrides));
  RETURN_IF_ERROR(Complete(cluster.topology, &options));
  const bool writes = !common.check;
  if (SkipsRun(StampOf(options, cluster), kTool, common)) return OkStatus();
  if (writes) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kManifestName));
  ASSIGN_OR_RETURN(Recording recording, Record(cluster.topology, options.record));
  RETURN_IF_ERROR(MatchCalls(&recording));
  ASSIGN_OR_RETURN(
      const Workload workload,
      MakeRecordedWorkload(recording, cluster.topology, BaseName(options.record.command.front())));
  Announce(common, recording, workload);
  if (!writes) return OkStatus();
  Provenance provenance;
  provenance.tool = kTool.name;
  provenance.inputs = {{BaseName(options.cluster), Sha256(cluster.yaml)}};
  provenance.options = options.overrides;
  RETURN_IF_ERROR(WriteWorkload(options.run, workload, cluster, provenance));
  return SaveStamp(StampOf(options, cluster));
}

void Announce(const CommonOptions& common, const PlayedWorkload& played) {
  const Workload& workload = played.workload;
  Report(
      kTool, common,
      fmt::format("{}: {}, {} in {}, {} in {}", workload.totals.model_name, workload.totals.layout,
                  Plural(workload.rank_count(), "rank"), Plural(workload.class_count, "class"),
                  Plural(played.calls, "call"), Plural(played.communicators, "communicator")));
  if (played.bypassing == 0) return;
  Report(
      kTool, common,
      fmt::format("taken from the schedule, since they bypass NCCL: {} calls", played.bypassing));
}

Result<PlayedWorkload> PlayWatched(const CommonOptions& common, const Workload& schedule,
                                   RecordOptions options) {
  TaskProgress progress(kTool, common);
  options.progress = [&](size_t ended, size_t all) {
    progress.Show("processes that have ended", ended, all);
  };
  return PlaySchedule(schedule, options);
}

Stamp StampOfSchedule(const Options& options) {
  const RecordOptions& record = options.record;
  return {options.run,
          kTool.name,
          {options.schedule + "/" + kManifestName, options.schedule + "/" + kTopologyName,
           ScheduleProgram(record.libraries), record.libraries + "/libnccl.so.2"},
          {fmt::format("ranks={} gpus-per-process={}", record.ranks, record.gpus_per_process)},
          {options.run + "/" + kManifestName, options.run + "/" + kTopologyName}};
}

Status RunSchedule(Options options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(options.schedule, WorkloadParts::kAll));
  RETURN_IF_ERROR(Complete(file.workload.topology, &options));
  const bool writes = !common.check;
  std::error_code ignored;
  if (writes && std::filesystem::equivalent(options.schedule, options.run, ignored)) {
    return Error("this run directory holds the schedule; write into another", {options.run, 0, 0});
  }
  if (SkipsRun(StampOfSchedule(options), kTool, common)) return OkStatus();
  if (writes) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kManifestName));
  ASSIGN_OR_RETURN(const PlayedWorkload played, PlayWatched(common, file.workload, options.record));
  Announce(common, played);
  if (!writes) return OkStatus();
  Provenance provenance;
  provenance.tool = kTool.name;
  provenance.inputs = {{kManifestName, file.sha256}};
  RETURN_IF_ERROR(WriteWorkload(options.run, played.workload, file.cluster, provenance,
                                file.attention_backend));
  return SaveStamp(StampOfSchedule(options));
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const RunLock lock,
                   LockRun(kTool, common, options.run, RunLock::Missing::kMake));
  return options.schedule.empty() ? RunProgram(options, common) : RunSchedule(options, common);
}

std::string Subject(const Options& options) {
  if (!options.schedule.empty()) return options.schedule;
  return options.record.command.empty() ? options.cluster : options.record.command.front();
}

}  // namespace

std::unique_ptr<Command> MakeRecordCommand() {
  return MakeCommand<Options>(kTool, Declare, Run, Subject);
}

}  // namespace drydock
