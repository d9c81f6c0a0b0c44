// Shows how far a tool is: in one line of a terminal, which the next line that is said replaces, or
// in a log with a line of its own every 30 s.
#ifndef DRYDOCK_CORE_PROGRESS_PROGRESS_LINE_H_
#define DRYDOCK_CORE_PROGRESS_PROGRESS_LINE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/cli.h"
#include "core/progress/ticker.h"

namespace drydock {

// Shown until the object ends. Let it end before the tool prints its results.
class ProgressLine {
 public:
  // How far the tool is at present; "" shows nothing. Called on another thread.
  using Text = std::function<std::string()>;

  // Shows nothing with --quiet.
  ProgressLine(const ToolInfo& tool, const CommonOptions& common, Text text);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  std::unique_ptr<Ticker> ticker_;
};

// The progress of a tool that does one thing after another. Thread-safe.
class TaskProgress {
 public:
  TaskProgress(const ToolInfo& tool, const CommonOptions& common);

  // Counted: "7 of 12 plans, about 5 s left" for the name "plans". A task that begins again under
  // its name, with other numbers, goes on.
  void Show(const std::string& name, size_t done, size_t of);
  // Not counted: "reads the run (31 s so far)", since the object was made.
  void Show(const std::string& doing);
  // Shows nothing from now on.
  void End() { line_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  void Begin(const std::string& name, size_t done);
  std::string Text();

  std::mutex mutex_;
  std::string name_;
  size_t done_ = 0, of_ = 0, done_before_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point begin_ = start_;    // of what is counted
  std::unique_ptr<ProgressLine> line_;  // last: its thread reads the others
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_PROGRESS_PROGRESS_LINE_H_
