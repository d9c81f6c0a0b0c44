// The processes that mpirun has started, over ns-3's mpi module (OpenMPI).
#ifndef DRYDOCK_NS3_BACKEND_MPI_PROCESSES_H_
#define DRYDOCK_NS3_BACKEND_MPI_PROCESSES_H_

#include "core/base/processes.h"

namespace drydock {

// Joins them; OneProcess() if mpirun did not start this one, or it alone. Called at most once,
// first thing in main. All but the first process get an stdout that goes nowhere.
Processes& JoinProcesses();

// To be called last: `status` is the process's exit status, and so is what comes back, but for
// processes other than the first that agree with it. An internal error of one (status 3) ends all.
int LeaveProcesses(int status);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_MPI_PROCESSES_H_
