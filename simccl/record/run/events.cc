#include "simccl/record/run/events.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/check.h"

namespace drydock {

Result<std::unique_ptr<RecordEvents>> RecordEvents::Create() {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0) return Error(std::string("cannot wait for processes: ") + std::strerror(errno));
  return std::unique_ptr<RecordEvents>(new RecordEvents(poll));
}

RecordEvents::~RecordEvents() { ::close(poll_); }

void RecordEvents::Watch(int file, std::function<void()> callback) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = file;
  CHECK_NOTE(::epoll_ctl(poll_, EPOLL_CTL_ADD, file, &event) == 0, std::strerror(errno));
  callbacks_[file] = std::move(callback);
}

void RecordEvents::Forget(int file) {
  if (callbacks_.erase(file) > 0) ::epoll_ctl(poll_, EPOLL_CTL_DEL, file, nullptr);
}

bool RecordEvents::RunOnce(int milliseconds) {
  constexpr int kAtOnce = 256;
  epoll_event events[kAtOnce];
  const int ready = ::epoll_wait(poll_, events, kAtOnce, milliseconds);
  for (int i = 0; i < ready; ++i) {
    const auto found = callbacks_.find(events[i].data.fd);
    if (found == callbacks_.end()) continue;  // an earlier callback forgot the file
    const std::function<void()> callback = found->second;
    callback();
  }
  return ready > 0;
}

}  // namespace drydock
