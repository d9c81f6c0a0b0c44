// Where the points of a study are evaluated: in processes of this machine, or in jobs of an engine
// that the user's machines have. Drydock starts jobs and waits for them; queues, nodes, limits and
// retries are the engine's.
#ifndef DRYDOCK_STUDY_JOBS_ENGINE_H_
#define DRYDOCK_STUDY_JOBS_ENGINE_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

struct Engine {
  enum class Kind : uint8_t {
    kLocal,
    kSlurm,    // an array of jobs (sbatch)
    kSrun,     // steps of the allocation that this command runs in
    kCommand,  // a command line for each job
  };
  Kind kind = Kind::kLocal;
  int processes = 0;                 // of kLocal; 0: not stated
  std::vector<std::string> options;  // of kSlurm, as sbatch takes them: "--partition=gpu"
  std::string command;               // of kCommand, with "{job}" for the job's command line
};

// Parses what --on takes:
//   local  local:8
//   slurm  slurm:partition=short,time=30:00
//   srun
//   command:ssh host2 {job}
// Errors: another kind, an option that Drydock does not pass on, a command without {job}.
Result<Engine> ParseEngine(const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_JOBS_ENGINE_H_
