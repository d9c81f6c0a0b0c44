#include "study/study_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/base/cli.h"
#include "core/base/files.h"

namespace drydock {
namespace {

constexpr int kTerminalIntervalMs = 200;

}  // namespace

Result<RunLock> ClaimStudy(const ToolInfo& tool, const CommonOptions& common,
                           const std::string& directory) {
  ASSIGN_OR_RETURN(RunLock lock, LockRun(tool, common, directory, RunLock::Missing::kMake));
  RETURN_IF_ERROR(MakeDirectories(directory));
  return lock;
}

int JobsOr(int jobs) {
  if (jobs > 0) return jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

StudyProgress::StudyProgress(const ToolInfo& tool, const CommonOptions& common)
    : tool_(tool.name),
      quiet_(common.quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      interval_(terminal_ ? kTerminalIntervalMs : common.progress_interval_ms) {}

void StudyProgress::Show(const std::string& what, size_t done, size_t of) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (what != what_) {
    what_ = what;
    start_ = now;
    done_before_ = done;
  }
  if (now - last_ < interval_) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string text = fmt::format("{}: {} of {} {}", tool_, done, of, what);
  if (done > done_before_ && seconds > 0) {
    const double rate = static_cast<double>(done - done_before_) / seconds;
    text += fmt::format(", {:.3g} a second, at most {:.0f} s left", rate,
                        static_cast<double>(of - done) / rate);
  }
  terminal_ ? SayInPlace(text) : Say(text + "\n");
}

void StudyProgress::End() const {
  if (terminal_ && !quiet_) SayInPlace("");
}

}  // namespace drydock
