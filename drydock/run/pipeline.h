// `drydock run`: the stages of a prediction in their order.
#ifndef DRYDOCK_DRYDOCK_RUN_PIPELINE_H_
#define DRYDOCK_DRYDOCK_RUN_PIPELINE_H_

#include <string>
#include <vector>

namespace drydock {

// How the user called the command. Messages begin with it.
struct Caller {
  std::string name;     // "drydock run", "run_pipeline.sh"
  std::string command;  // "drydock run", "./run_pipeline.sh"
};

// Runs the stages as `words` say and returns the exit status. Stages are the executables beside
// this one. The run directory is locked meanwhile, by this process and the stages. An interrupt
// ends the stage and its processes; the exit status is then 130.
int RunPipeline(const Caller& caller, const std::vector<std::string>& words);

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_RUN_PIPELINE_H_
