#include "exec-engine/watched_replay.h"

#include <algorithm>
#include <chrono>

#include "core/progress/progress_line.h"
#include "exec-engine/command/progress_text.h"

namespace drydock {
namespace {

// Global, because a signal handler reads it.
Progress progress;

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
  const auto start = std::chrono::steady_clock::now();
  const ProgressLine line(info, common, [start]() -> std::string {
    const Progress::Snapshot at = progress.Now();
    if (at.all_ops == 0) return "";
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return ProgressText(at, took.count());
  });
  if (!common.quiet) SayWhenInterrupted(info.name.c_str(), CopyProgress);
  Result<Timeline> timeline = Replay(workload, plan, times, network, options);
  SayWhenInterrupted(nullptr, nullptr);
  return timeline;
}

}  // namespace drydock
