// capture_world CLUSTER --world N --cache FOLDER -o RUN -- PYTHON ...: captures a program and
// writes RUN/1-workload. For tests of capture/classes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "capture/classes/capture_program.h"
#include "core/base/files.h"
#include "core/model/calls/rank_list.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock {
namespace {

struct Options {
  std::string cluster, cache, libraries, sources, out;
  std::vector<std::string> overrides;
  capture::CaptureOptions capture;
};

Status Run(Options options) {
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, options.overrides));
  const capture::CaptureParts parts = {options.libraries, options.sources, NcclLibrary::Find()};
  const std::vector<std::string>& command = options.capture.command;
  ASSIGN_OR_RETURN(const capture::CaptureEnvironment environment,
                   capture::PrepareEnvironment(command.front(), parts, options.cache));
  options.capture.progress = [](const capture::CaptureProgress& progress) {
    fmt::print(stderr, "{} of {} ranks, {} classes: {}\n", progress.ranks_ended,
               progress.ranks_known, progress.classes, progress.doing);
  };
  ASSIGN_OR_RETURN(const capture::CapturedWorkload captured,
                   capture::CaptureProgram(environment, cluster.topology, options.capture));
  for (const capture::CapturedClass& of_ranks : captured.classes) {
    fmt::print("class: ranks {}; ran {}\n", RanksText(of_ranks.ranks),
               RanksText(of_ranks.captured, 99));
  }
  for (const std::string& note : captured.notes) fmt::print("{}\n", note);
  Provenance provenance;
  provenance.tool = "capture_world";
  provenance.inputs = {{BaseName(options.cluster), Sha256(cluster.yaml)}};
  return WriteWorkload(options.out, captured.workload, cluster, provenance,
                       captured.attention_backend);
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  CLI::App app("Captures a program and writes its workload");
  app.add_option("cluster", options.cluster, "The cluster (cluster.topo)")->required();
  app.add_option("--set", options.overrides, "Replaces a value of the cluster")
      ->allow_extra_args(false);
  app.add_option("--world", options.capture.world, "The number of ranks");
  app.add_option("--ranks-per-host", options.capture.ranks_per_host, "Ranks on a host");
  app.add_option("--iteration", options.capture.iteration, "Which becomes the workload");
  app.add_flag("--all-ranks", options.capture.all_ranks, "Run every rank");
  app.add_flag("!--no-times", options.capture.with_times, "Leave out the host's times");
  app.add_option("--jobs", options.capture.jobs, "Ranks at the same time");
  app.add_option("--time-limit", options.capture.time_limit_s, "Seconds of a rank");
  app.add_option("--cache", options.cache, "Keeps what is made for a PyTorch")->required();
  app.add_option("--libraries", options.libraries, "Folder of libhackcuda.so")->required();
  app.add_option("--sources", options.sources, "Root of the tree")->required();
  app.add_option("-o,--out", options.out, "The run directory")->required();
  app.add_option("program", options.capture.command, "Python and its arguments")->required();
  CLI11_PARSE(app, argc, argv);
  const drydock::Status status = drydock::Run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().ToString());
  return 1;
}
