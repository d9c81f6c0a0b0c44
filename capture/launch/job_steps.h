// Launchers that start one command as several tasks, which learn from variables who they are: srun,
// and mpirun of Open MPI, MPICH and Intel. The tasks are ranks, or start ranks themselves.
#ifndef DRYDOCK_CAPTURE_LAUNCH_JOB_STEPS_H_
#define DRYDOCK_CAPTURE_LAUNCH_JOB_STEPS_H_

#include <string>
#include <vector>

#include "capture/launch/call.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// A step and the command of its tasks.
struct StepCommand {
  JobStep step;
  std::vector<std::string> command;
  std::string folder;     // --chdir; "" if it is not given
  Variables environment;  // that its options set
};

bool IsStepLauncher(const std::string& program);

// REQUIRES: IsStepLauncher(call.words[0]). Errors: an unknown option, an open number of hosts,
// several commands.
Result<StepCommand> ReadStep(const Call& call, const ClusterSize& cluster);

// What the launcher tells one task of a step.
Variables VariablesOfStep(const JobStep& step, int task);
// Of those, the numbers of the task.
std::vector<std::pair<std::string, RankNumber>> NumbersOfStep(const std::string& launcher);
// Adds both to a launch whose ranks are the tasks of the step.
void SetStepVariables(const JobStep& step, Launch* launch);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_JOB_STEPS_H_
