// Runs the same work in many processes in parallel. NCCL keeps much of its state per process, so
// each rank has its own process, as in a training run.
#ifndef DRYDOCK_TESTS_ORACLE_PROCESSES_H_
#define DRYDOCK_TESTS_ORACLE_PROCESSES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

using Lines = std::vector<std::string>;

// Returns, for each i, the lines that process i of `count` writes. The processes run in parallel.
// The error lists the messages of the processes that failed. All processes have ended on return,
// and they end if this process is killed.
Result<std::vector<Lines>> RunInProcesses(int count,
                                          const std::function<Status(int, Lines*)>& body);

// Zeroed memory that is shared with processes that start later. Only touched pages use memory.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_;
  size_t bytes_;
};

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_PROCESSES_H_
