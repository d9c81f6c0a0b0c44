#include "core/progress/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace drydock {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval(200);

}  // namespace

ProgressLine::ProgressLine(const ToolInfo& tool, const CommonOptions& common, Text text) {
  if (common.quiet) return;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const std::chrono::milliseconds in_log(common.progress_interval_ms);
  ticker_ = std::make_unique<Ticker>(terminal ? kTerminalInterval : in_log,
                                     [terminal, name = tool.name, text = std::move(text)] {
                                       const std::string now = Printable(text());
                                       if (now.empty()) return;
                                       const std::string line = name + ": " + now;
                                       terminal ? SayInPlace(line) : Say(line + "\n");
                                     });
}

ProgressLine::~ProgressLine() {
  if (ticker_ == nullptr) return;
  ticker_.reset();
  SayInPlace("");
}

TaskProgress::TaskProgress(const ToolInfo& tool, const CommonOptions& common)
    : line_(std::make_unique<ProgressLine>(tool, common, [this] { return Text(); })) {}

void TaskProgress::Begin(const std::string& name, size_t done) {
  if (name == name_) return;
  name_ = name;
  done_before_ = done;
  begin_ = Clock::now();
}

void TaskProgress::Show(const std::string& name, size_t done, size_t of) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Begin(name, done);
  done_ = done;
  of_ = of;
}

void TaskProgress::Show(const std::string& doing) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Begin(doing, 0);
  of_ = 0;
}

std::string TaskProgress::Text() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (name_.empty()) return "";
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  if (of_ == 0) {
    return fmt::format("{} ({:.0f} s so far)", name_,
                       std::chrono::duration<double>(now - start_).count());
  }
  std::string text = fmt::format("{} of {} {}", done_, of_, name_);
  if (done_ > done_before_ && done_ < of_) {
    text +=
        fmt::format(", about {:.0f} s left", seconds / static_cast<double>(done_ - done_before_) *
                                                 static_cast<double>(of_ - done_));
  }
  return text;
}

}  // namespace drydock
