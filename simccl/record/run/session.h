// Runs a program as virtual ranks on this machine until all processes have ended. Each process has
// libhacknccl.so as its libnccl.so.2, which records the process's calls in the session's folder.
//
// Processes start as under torchrun or mpirun: a process finds its number in RANK, LOCAL_RANK,
// OMPI_COMM_WORLD_RANK and similar variables. A process shares the launcher's stdout. The launcher
// copies the process's stderr line by line and prefixes each line with the process's number.
#ifndef DRYDOCK_SIMCCL_RECORD_RUN_SESSION_H_
#define DRYDOCK_SIMCCL_RECORD_RUN_SESSION_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock {

struct RecordOptions {
  int ranks = 0;             // GPUs in use, starting with the first of the cluster
  int gpus_per_process = 1;  // all on one host
  int patience_s = 20;       // how long all processes may wait for each other
  std::string libraries;     // folder of libnccl.so.2 and libcudart.so.*
  std::vector<std::string> command;
  // Called from time to time with the number of processes that have ended.
  std::function<void(size_t ended, size_t all)> progress;
};

// One process to start.
struct RecordProcess {
  int host = 0;
  int local = 0, local_count = 0;  // among the processes of its host
};
std::vector<RecordProcess> PlanProcesses(const Topology& topology, const RecordOptions& options);

// Runs the program and returns the folder of its logs, which the result's destructor deletes. All
// processes have ended when this function returns. The error names the process that failed, how it
// failed, and the end of its stderr; or the ranks that wait for each other forever.
Result<StagedDirectory> RecordProgram(const Topology& topology, const RecordOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RUN_SESSION_H_
