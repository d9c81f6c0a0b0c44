// The processes of a recorded program: starts them, forwards their stderr, and notices when they
// end. The destructor kills all processes; the system does so when the launcher dies. Not
// thread-safe.
#ifndef DRYDOCK_SIMCCL_RECORD_RUN_CHILDREN_H_
#define DRYDOCK_SIMCCL_RECORD_RUN_CHILDREN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/process.h"
#include "core/base/result.h"
#include "simccl/record/run/events.h"

namespace drydock {

class RecordChildren {
 public:
  explicit RecordChildren(RecordEvents* events) : events_(events) {}
  ~RecordChildren();
  RecordChildren(const RecordChildren&) = delete;
  RecordChildren& operator=(const RecordChildren&) = delete;

  // Starts the next process; processes are numbered from 0. Looks the command up in PATH. `added`
  // replaces variables of the launcher's environment. Fails only if the system can start no further
  // process: a process whose command is missing ends with a reason.
  Status Start(const std::vector<std::string>& command, const Variables& added);

  // Collects processes that have ended. Describes the first failure, if any: "process 3 was killed
  // by signal 11 (Segmentation fault)", and the end of its stderr.
  std::optional<std::string> Reap();

  size_t running() const { return running_; }
  bool IsRunning(size_t number) const { return children_[number].pid > 0; }
  size_t size() const { return children_.size(); }

 private:
  struct Child {
    pid_t pid = 0;
    int stderr_file = -1;
    std::string line;  // the incomplete last line of stderr
    std::string tail;
  };
  void Forward(size_t number);
  void Drain(size_t number);
  std::string Describe(size_t number, int status) const;

  RecordEvents* events_;
  std::vector<Child> children_;
  size_t running_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RUN_CHILDREN_H_
