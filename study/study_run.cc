#include "study/study_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/base/cli.h"
#include "core/base/files.h"

namespace drydock {

Status ClaimStudy(const std::string& directory) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return Error("cannot open the directory of the study", {directory, 0, 0});
  if (::flock(opened, LOCK_EX | LOCK_NB) == 0) return OkStatus();
  return Error("another sweep or search is writing into this directory", {directory, 0, 0});
}

int JobsOr(int jobs) {
  if (jobs > 0) return jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

StudyProgress::StudyProgress(std::string tool, bool quiet)
    : tool_(std::move(tool)), quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void StudyProgress::Show(const std::string& what, size_t done, size_t of) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (what != what_) {
    what_ = what;
    start_ = now;
    done_before_ = done;
  }
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(30))) {
    return;
  }
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string text = fmt::format("{}: {} of {} {}", tool_, done, of, what);
  if (done > done_before_ && seconds > 0) {
    const double rate = static_cast<double>(done - done_before_) / seconds;
    text += fmt::format(", {:.3g} a second, at most {:.0f} s left", rate,
                        static_cast<double>(of - done) / rate);
  }
  Say((terminal_ ? "\r\x1b[K" : "") + text + (terminal_ ? "" : "\n"));
}

void StudyProgress::End() const {
  if (terminal_ && !quiet_) Say("\r\x1b[K");
}

}  // namespace drydock
