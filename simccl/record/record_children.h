// The processes of a recorded program: started, their stderr passed on, their ends noticed. All are
// killed when this is destroyed, and by the system when the launcher dies. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_CHILDREN_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_CHILDREN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "simccl/record/record_events.h"

namespace drydock {

class RecordChildren {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  explicit RecordChildren(RecordEvents* events) : events_(events) {}
  ~RecordChildren();
  RecordChildren(const RecordChildren&) = delete;
  RecordChildren& operator=(const RecordChildren&) = delete;

  // Numbered in order of starting, from 0. `added` replaces variables of our own environment. The
  // command is looked for in PATH. Cannot fail but for want of processes: a command that is not
  // there is an end with a reason.
  Status Start(const std::vector<std::string>& command, const Environment& added);

  // Takes note of processes that have ended. The first that did not end well, in words: "process 3
  // was killed by signal 11 (Segmentation fault)", and the end of its stderr.
  std::optional<std::string> Reap();

  size_t running() const { return running_; }
  bool IsRunning(size_t number) const { return children_[number].pid > 0; }
  size_t size() const { return children_.size(); }

 private:
  struct Child {
    pid_t pid = 0;
    int stderr_file = -1;
    std::string line;  // begun, not passed on yet
    std::string tail;
  };
  void PassOn(size_t number);
  void Drain(size_t number);
  std::string Describe(size_t number, int status) const;

  RecordEvents* events_;
  std::vector<Child> children_;
  size_t running_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_CHILDREN_H_
