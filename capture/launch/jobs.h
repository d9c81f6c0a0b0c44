// Jobs of Slurm: what sbatch and salloc tell the script or command that they start.
#ifndef DRYDOCK_CAPTURE_LAUNCH_JOBS_H_
#define DRYDOCK_CAPTURE_LAUNCH_JOBS_H_

#include <string>
#include <vector>

#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// A job that sbatch or salloc would start.
struct Job {
  Variables variables;  // of its first host
  std::string folder;   // --chdir; "" if it is not given
};
// By these options, the last of which win.
Result<Job> ReadJob(const std::vector<std::string>& options, const ClusterSize& cluster);
// By the lines #SBATCH of a script, and the options of the command line behind them. Errors of a
// line have its place.
Result<Job> ReadJobOfScript(const std::string& path, const std::string& text,
                            const std::vector<std::string>& options, const ClusterSize& cluster);
// The options of the lines #SBATCH of a script.
std::vector<std::string> JobOptionsOfScript(const std::string& text);
// "3: #PBS -l select=2": the first line by which a script asks PBS, LSF or SGE for a job, with its
// number; "" if there is none.
std::string OtherJobLine(const std::string& text);
// Index of the script among the words of sbatch or salloc, behind their options; the number of
// words if there is none, and sbatch reads it from its standard input.
Result<size_t> ScriptOfSbatch(const std::vector<std::string>& words);
// The command of --wrap, which takes the place of a script; "" if it is not given.
Result<std::string> WrappedBySbatch(const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_JOBS_H_
