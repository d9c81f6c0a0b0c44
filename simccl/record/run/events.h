// Lets one thread wait for many files. Calls back for each file that has data to read or whose
// other end is closed. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_RECORD_RUN_EVENTS_H_
#define DRYDOCK_SIMCCL_RECORD_RUN_EVENTS_H_

#include <functional>
#include <map>
#include <memory>

#include "core/base/result.h"

namespace drydock {

class RecordEvents {
 public:
  static Result<std::unique_ptr<RecordEvents>> Create();
  ~RecordEvents();
  RecordEvents(const RecordEvents&) = delete;
  RecordEvents& operator=(const RecordEvents&) = delete;

  // Calls `callback` whenever `file` is ready. The caller keeps the file open until Forget. A
  // callback may call Watch and Forget, also for its own file.
  void Watch(int file, std::function<void()> callback);
  void Forget(int file);

  // Waits at most this long, then runs the callbacks of all ready files. Returns false if no file
  // was ready.
  bool RunOnce(int milliseconds);

 private:
  explicit RecordEvents(int poll) : poll_(poll) {}
  int poll_;
  std::map<int, std::function<void()>> callbacks_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RUN_EVENTS_H_
