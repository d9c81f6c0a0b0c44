// The processes that mpirun started, connected by ns-3's mpi module (OpenMPI).
#ifndef DRYDOCK_NS3_BACKEND_MPI_PROCESSES_H_
#define DRYDOCK_NS3_BACKEND_MPI_PROCESSES_H_

#include "core/base/processes.h"

namespace drydock {

// Joins the processes. Returns OneProcess() if mpirun did not start this process or started only
// this one. Discards the standard output of all processes but the first.
// REQUIRES: called at most once, at the beginning of main.
Processes& JoinProcesses();

// Returns the exit status of this process: `status` in the first process, 0 in the others. An
// internal error (status 3) of any process ends all processes.
// REQUIRES: called at the end of main.
int LeaveProcesses(int status);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_MPI_PROCESSES_H_
