// capture_rank CLUSTER --rank R --world N --cache FOLDER -o TEXT -- PYTHON ...: runs a program as
// one rank and writes what it asked of the GPU, or the tape of an iteration. For tests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "capture/log/log_text.h"
#include "capture/run/rank_run.h"
#include "capture/tape/make_tape.h"
#include "capture/tape/tape_text.h"
#include "core/base/files.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock {
namespace {

struct Options {
  std::string cluster, cache, libraries, sources, out;
  capture::RankProgram program;
  int rank = 0;
  int iteration = 0;
  bool with_times = false;
};

Status Run(const Options& options) {
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, {}));
  const capture::CaptureParts parts = {options.libraries, options.sources, NcclLibrary::Find()};
  ASSIGN_OR_RETURN(const capture::CaptureEnvironment environment,
                   capture::PrepareEnvironment(options.program.command.front(), parts, options.cache));
  ASSIGN_OR_RETURN(const capture::ProcessLog log,
                   capture::RunRank(environment, cluster.topology, options.program, options.rank));
  if (options.iteration == 0) {
    return WriteFileAtomically(options.out, capture::LogText(log, {options.with_times}));
  }
  ASSIGN_OR_RETURN(const capture::RankTape tape,
                   capture::MakeTape(log, {options.iteration, options.program.world}));
  return WriteFileAtomically(options.out, capture::TapeText(tape, {options.with_times}));
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  options.program.shows_output = true;
  CLI::App app("Runs a program as one rank of a cluster and prints what it asks of the GPU");
  app.add_option("cluster", options.cluster, "The cluster (cluster.topo)")->required();
  app.add_option("--rank", options.rank, "The rank");
  app.add_option("--world", options.program.world, "The number of ranks");
  app.add_option("--cache", options.cache, "Keeps what is made for a PyTorch")->required();
  app.add_option("--libraries", options.libraries, "Folder of libhackcuda.so")->required();
  app.add_option("--sources", options.sources, "Root of the tree")->required();
  app.add_option("-o,--out", options.out, "The text of the log")->required();
  app.add_option("--iteration", options.iteration, "Write the tape of this iteration");
  app.add_flag("--times", options.with_times, "Write times of the host, too");
  app.add_option("program", options.program.command, "Python and its arguments")->required();
  CLI11_PARSE(app, argc, argv);
  const drydock::Status status = drydock::Run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().ToString());
  return 1;
}
