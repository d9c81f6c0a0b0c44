// The same work in many processes at once: NCCL keeps much of its state per process, so each rank
// has one of its own, as in a training run.
#ifndef DRYDOCK_TESTS_ORACLE_PROCESSES_H_
#define DRYDOCK_TESTS_ORACLE_PROCESSES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

using Lines = std::vector<std::string>;

// What process i of `count` puts into its Lines, for each i. The processes run side by side. The
// error lists what those that failed said. All have ended on return; they end with this process,
// whatever ends it.
Result<std::vector<Lines>> RunInProcesses(int count,
                                          const std::function<Status(int, Lines*)>& body);

// Zeroed memory that is shared with processes begun later. Only touched pages cost anything.
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
