// Runs a program as many virtual ranks on this machine, each process with libhacknccl.so as its
// libnccl.so.2, until all have ended. What they called is then in the session's folder.
//
// A process is what torchrun or mpirun would start: it finds its number in RANK, LOCAL_RANK,
// OMPI_COMM_WORLD_RANK and their like. Its stdout is ours; its stderr comes out of ours line by
// line, marked with its number.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_SESSION_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_SESSION_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock {

struct RecordOptions {
  int ranks = 0;             // GPUs in use, from the first of the cluster
  int gpus_per_process = 1;  // that a process drives; processes do not reach over hosts
  int patience_s = 20;       // all processes may wait for each other this long
  std::string libraries;     // folder of libnccl.so.2 and libcudart.so.*
  std::vector<std::string> command;
  // Told now and then how many of all processes have ended.
  std::function<void(size_t ended, size_t all)> progress;
};

// One process to start.
struct RecordProcess {
  int host = 0;
  int local = 0, local_count = 0;  // among those of its host
};
std::vector<RecordProcess> PlanProcesses(const Topology& topology, const RecordOptions& options);

// The error names the process that failed, how, and the end of what it wrote to stderr; or the
// ranks that wait for each other without end. All processes are gone when this returns. The folder
// vanishes with the result.
Result<StagedDirectory> RecordProgram(const Topology& topology, const RecordOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_SESSION_H_
