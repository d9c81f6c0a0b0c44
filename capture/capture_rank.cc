// capture_rank CLUSTER --rank R --world N --cache FOLDER -o TEXT -- PYTHON ...: runs a program as
// one rank and writes what it asked of the GPU, or the tape of an iteration. With --run FOLDER, the
// iteration of the only rank of a program becomes a run that compute-sim and the others take. For
// tests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "capture/log/log_text.h"
#include "capture/run/rank_run.h"
#include "capture/tape/launch_costs.h"
#include "capture/tape/make_tape.h"
#include "capture/tape/tape_text.h"
#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/host/host_memory_file.h"
#include "simccl/record/workload/program.h"

namespace drydock {
namespace {

struct Options {
  std::string cluster, cache, libraries, sources, out, run_folder, log, timed;
  int iteration = 0;
  bool with_times = false;
  capture::RankProgram program;
  int rank = 0;
  std::vector<int> before;
};

Status WriteRun(const Options& options, const ClusterInput& cluster,
                const capture::RankTape& tape) {
  if (tape.world != 1) return Error("--run takes a program of one rank");
  Recording recording;
  recording.ranks.resize(static_cast<size_t>(cluster.topology.gpu_count()));
  recording.ranks[0].entries = tape.entries;
  for (const capture::TapeCommunicator& communicator : tape.communicators) {
    recording.communicators.push_back({communicator.members});
  }
  RecordTables tables;
  ASSIGN_OR_RETURN(RecordProgram made, MakeRecordProgram(recording, recording.ranks[0], &tables));
  capture::SetPlaces(tape, made.entry_of_op, &made.program);
  if (!tables.calls.empty()) return Error("--run takes a program without calls of NCCL");
  Workload workload;
  workload.topology = cluster.topology;
  workload.streams = RecordStreamNames(tables.streams);
  workload.submodules = tape.submodules;
  workload.blocks = tape.blocks;
  workload.transfers = tape.transfers;
  workload.programs = {std::move(made.program), {}};
  workload.programs[1].dependency_begin = {0};
  workload.class_of_rank.assign(recording.ranks.size(), 1);
  workload.class_of_rank[0] = 0;
  workload.class_count = recording.ranks.size() > 1 ? 2 : 1;
  if (workload.class_count == 1) workload.programs.pop_back();
  ASSIGN_OR_RETURN(workload.launch, capture::LaunchCosts(tape.host));
  const std::string path = ConfigDirectory() + "/host-memory.yaml";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const HostMemoryDefaults defaults, ParseHostMemoryFile(text, path));
  for (const HostKind& kind : cluster.topology.host_kinds) {
    workload.host_memory.push_back(
        WithDefaults(kind, cluster.topology.gpus[static_cast<size_t>(kind.gpu)], defaults));
  }
  workload.totals.model_name = "captured";
  workload.totals.layout = "one rank";
  return WriteWorkload(options.run_folder, workload, cluster, {"capture_rank", {}, {}},
                       tape.attention_backend);
}

Status Write(const Options& options, const ClusterInput& cluster, const capture::ProcessLog& log) {
  if (options.iteration == 0) {
    return WriteFileAtomically(options.out, capture::LogText(log, {options.with_times}));
  }
  capture::TapeOptions tape_options = {options.iteration, options.program.world, nullptr};
  std::optional<capture::ProcessLog> timed;
  if (!options.timed.empty()) {
    ASSIGN_OR_RETURN(timed, capture::ProcessLog::Read(options.timed));
    tape_options.timed = &*timed;
  }
  ASSIGN_OR_RETURN(const capture::RankTape tape, capture::MakeTape(log, tape_options));
  if (!options.run_folder.empty()) RETURN_IF_ERROR(WriteRun(options, cluster, tape));
  return WriteFileAtomically(options.out, capture::TapeText(tape, {options.with_times}));
}

Status Run(const Options& options) {
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, {}));
  if (!options.log.empty()) {
    ASSIGN_OR_RETURN(const capture::ProcessLog log, capture::ProcessLog::Read(options.log));
    return Write(options, cluster, log);
  }
  if (options.program.command.empty()) return Error("name a program or a log");
  const capture::CaptureParts parts = {options.libraries, options.sources, NcclLibrary::Find()};
  ASSIGN_OR_RETURN(
      const capture::CaptureEnvironment environment,
      capture::PrepareEnvironment(options.program.command.front(), parts, options.cache));
  ASSIGN_OR_RETURN(const capture::ProcessLog log,
                   capture::RunRank(environment, cluster.topology, options.program, options.rank,
                                    options.before));
  return Write(options, cluster, log);
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  options.program.shows_output = true;
  CLI::App app("Runs a program as one rank of a cluster and prints what it asks of the GPU");
  app.add_option("cluster", options.cluster, "The cluster (cluster.topo)")->required();
  app.add_option("--rank", options.rank, "The rank");
  app.add_option("--after", options.before, "A rank that runs first, and tells this one");
  app.add_option("--world", options.program.world, "The number of ranks");
  app.add_option("--cache", options.cache, "Keeps what is made for a PyTorch");
  app.add_option("--libraries", options.libraries, "Folder of libhackcuda.so");
  app.add_option("--sources", options.sources, "Root of the tree");
  app.add_option("-o,--out", options.out, "The text of the log")->required();
  app.add_option("--iteration", options.iteration, "Write the tape of this iteration");
  app.add_option("--run", options.run_folder, "Write a run of this iteration, too");
  app.add_flag("--times", options.with_times, "Write times of the host, too");
  app.add_option("program", options.program.command, "Python and its arguments");
  app.add_option("--timed", options.timed, "The log of a run that has the host's times");
  app.add_option("--log", options.log, "Read this log in place of running a program");
  CLI11_PARSE(app, argc, argv);
  const drydock::Status status = drydock::Run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().ToString());
  return 1;
}
