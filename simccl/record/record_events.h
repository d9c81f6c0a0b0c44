// One thread waits for many files: a callback for each that has something to read, or has been
// closed at its other end. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_EVENTS_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_EVENTS_H_

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

  // `file` stays the caller's. A callback may call Watch and Forget, also of its own file.
  void Watch(int file, std::function<void()> callback);
  void Forget(int file);

  // Runs the callbacks of what is ready, after waiting for it for at most this long. False if
  // nothing was.
  bool RunOnce(int milliseconds);

 private:
  explicit RecordEvents(int poll) : poll_(poll) {}
  int poll_;
  std::map<int, std::function<void()>> callbacks_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_EVENTS_H_
