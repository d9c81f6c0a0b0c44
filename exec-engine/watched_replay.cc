#include "exec-engine/watched_replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "exec-engine/command/progress_text.h"
#include "exec-engine/command/ticker.h"

namespace drydock {
namespace {

// Clears the present line, because the next one may be shorter.
constexpr const char* kClearLine = "\r\x1b[K";
constexpr std::chrono::milliseconds kInterval(200);
constexpr std::chrono::milliseconds kLogInterval(30'000);

// Global, because a signal handler reads it.
Progress progress;

// Returns a ticker that shows the progress until it is destroyed: in one line of a terminal, or
// with a line of its own now and then in a log.
std::unique_ptr<Ticker> ShowProgress(const std::string& tool, bool terminal) {
  const auto start = std::chrono::steady_clock::now();
  return std::make_unique<Ticker>(terminal ? kInterval : kLogInterval, [tool, start, terminal] {
    const Progress::Snapshot at = progress.Now();
    if (at.all_ops == 0) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    Say(fmt::format("{}{}: {}{}", terminal ? kClearLine : "", tool, ProgressText(at, took.count()),
                    terminal ? "" : "\n"));
  });
}

// Runs in a signal handler.
size_t CopyProgress(char* text, size_t size) {
  const Progress::Snapshot at = progress.Now();
  if (at.all_ops == 0 || size < kBriefProgressSize) return 0;
  char progress_text[kBriefProgressSize];
  const size_t length = WriteBriefProgress(at, progress_text);
  std::copy(progress_text, progress_text + length, text);
  return length;
}

}  // namespace

Result<Timeline> ReplayWatched(const ToolInfo& info, const CommonOptions& common,
                               const Workload& workload, const FlowPlan& plan,
                               const KernelTimes& times, const NetworkModel& network,
                               ReplayOptions options) {
  options.progress = &progress;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  std::unique_ptr<Ticker> line = common.quiet ? nullptr : ShowProgress(info.name, terminal);
  if (!common.quiet) SayWhenInterrupted(info.name.c_str(), CopyProgress);
  Result<Timeline> timeline = Replay(workload, plan, times, network, options);
  SayWhenInterrupted(nullptr, nullptr);
  line.reset();
  if (terminal && !common.quiet) Say(kClearLine);
  return timeline;
}

}  // namespace drydock
