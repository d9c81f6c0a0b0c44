// The command line of a prediction: which model on which cluster, and how. Errors are wrong usage,
// in the words of ./run_pipeline.sh.
#ifndef DRYDOCK_DRYDOCK_RUN_RUN_OPTIONS_H_
#define DRYDOCK_DRYDOCK_RUN_RUN_OPTIONS_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// The stages in their order; each is the executable of this name.
const std::vector<std::string>& Stages();

struct RunOptions {
  std::vector<std::string> inputs;  // MODEL and CLUSTER, as far as they are given
  std::string megatron_args, workload, out, network, threads, until, iterations, fold, hostfile,
      planner;
  std::string processes;  // "" or a number; several processes are started by mpirun
  std::vector<std::string> gpu_profiles;
  // Arguments of workload-gen and of all stages.
  std::vector<std::string> workload_args, common_args;
  int first_stage = 0, last_stage = 4;
  std::string range_option;  // --only or --from, if given
  bool dry_run = false, help = false, quiet = false;

  // The network that exec-engine takes, if none is given.
  std::string NetworkOrDefault() const { return network.empty() ? "packet" : network; }
};

// Parses and validates; reads no file. `help` is set as soon as --help is met.
Result<RunOptions> ParseRunOptions(const std::vector<std::string>& words);

// The names of options, for suggestions and completion: all, or those that take a value.
std::vector<std::string> RunOptionNames(bool with_value_only);

// What --help prints. `name` is how the command is called: "drydock run", "./run_pipeline.sh".
std::string RunHelp(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_RUN_RUN_OPTIONS_H_
