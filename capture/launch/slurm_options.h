// The options of srun, sbatch and salloc: https://slurm.schedmd.com/srun.html,
// https://slurm.schedmd.com/sbatch.html.
#ifndef DRYDOCK_CAPTURE_LAUNCH_SLURM_OPTIONS_H_
#define DRYDOCK_CAPTURE_LAUNCH_SLURM_OPTIONS_H_

#include <limits>
#include <optional>
#include <string>

#include "capture/launch/options.h"
#include "core/base/result.h"

namespace drydock::capture {

// A step of processes that use no GPU may have more than a host has GPUs. The tasks of a step are
// an int.
inline constexpr int kMostTasksPerHost = std::numeric_limits<int>::max() / kMaxHosts;

OptionTable SlurmOptions(const std::string& launcher);

// Hosts, tasks and GPUs that the options ask for. Errors: a number of hosts that is left open.
struct SlurmCounts {
  std::optional<int> nodes, tasks, per_node, gpus_per_node, gpus;
};
Result<SlurmCounts> CountsOf(const ParsedOptions& options, const std::string& launcher);

// The number that an option gives; nothing for "".
Result<std::optional<int>> OptionalNumber(const std::string& launcher, const std::string& option,
                                          const std::string& text, int most);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_SLURM_OPTIONS_H_
