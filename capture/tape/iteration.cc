#include "capture/tape/iteration.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/nccl/recording.h"

namespace drydock::capture {
namespace {

constexpr std::string_view kStep = "Optimizer.step#";
constexpr std::string_view kOptimizer = "optimizer ";  // a mark in the step of the one of a number

struct Step {
  size_t at = 0;               // it has ended
  std::string_view optimizer;  // its number, if the log has it
};

// What decides where iterations end.
struct Landmarks {
  std::vector<size_t> roots;  // forward passes of whole models begin, or graphs of them
  bool has_graphs = false;
  std::vector<Step> steps;        // of optimizers, in order
  std::vector<size_t> backwards;  // nodes of autograd have ended
  std::vector<size_t> tails;      // calls outside modules that may end an iteration
};

bool MayEndIteration(const LogEntry& call) {
  switch (static_cast<RecordFunction>(call.words[0])) {
    case RecordFunction::kAllReduce:
    case RecordFunction::kAllGather:
    case RecordFunction::kReduceScatter:
    case RecordFunction::kReduce:
    case RecordFunction::kGather:
      return true;
    default:
      return false;
  }
}

Landmarks FindLandmarks(const ProcessLog& log, LogRanges* ranges) {
  struct Thread {
    std::vector<const OperatorRange*> open;
    int modules = 0, backwards = 0;
    std::string_view optimizer;  // that stepped last
  };
  Landmarks found;
  std::unordered_map<uint32_t, Thread> threads;
  const std::vector<LogEntry>& entries = log.entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    const LogEntry& entry = entries[i];
    if (entry.kind == EntryKind::kBeginOp) {
      Thread& thread = threads[entry.thread];
      const OperatorRange& range = ranges->RangeOf(entry);
      if (range.kind == RangeKind::kModule && thread.modules++ == 0 && thread.backwards == 0 &&
          range.path.empty()) {
        found.roots.push_back(i);
      }
      if (range.kind == RangeKind::kBackward) ++thread.backwards;
      thread.open.push_back(&range);
    } else if (entry.kind == EntryKind::kEndOp) {
      Thread& thread = threads[entry.thread];
      if (thread.open.empty()) continue;
      const OperatorRange& range = *thread.open.back();
      thread.open.pop_back();
      if (range.kind == RangeKind::kModule) --thread.modules;
      if (range.kind == RangeKind::kBackward) {
        --thread.backwards;
        found.backwards.push_back(i);
      }
      if (range.kind == RangeKind::kScope && range.name.starts_with(kStep)) {
        found.steps.push_back({i, thread.optimizer});
      }
    } else if (entry.kind == EntryKind::kMark) {
      const std::string_view mark = log.name(entry.words[0]);
      if (mark.starts_with(kOptimizer)) {
        threads[entry.thread].optimizer = mark.substr(kOptimizer.size());
      }
    } else if (entry.kind == EntryKind::kLaunchGraph) {
      found.roots.push_back(i);
      found.has_graphs = true;
    } else if (entry.kind == EntryKind::kCall && MayEndIteration(entry)) {
      const Thread& thread = threads[entry.thread];
      if (thread.modules == 0 && thread.backwards == 0) found.tails.push_back(i);
    }
  }
  return found;
}

// Returns the first of the sorted places that is at least `from`, or `otherwise`.
size_t FirstFrom(const std::vector<size_t>& places, size_t from, size_t otherwise) {
  const auto it = std::lower_bound(places.begin(), places.end(), from);
  return it == places.end() ? otherwise : *it;
}
// Returns the last of the sorted places below `to`, or `otherwise`.
size_t LastBelow(const std::vector<size_t>& places, size_t to, size_t otherwise) {
  const auto it = std::lower_bound(places.begin(), places.end(), to);
  return it == places.begin() ? otherwise : *(it - 1);
}

// Returns the ends of the iterations that end with steps. An optimizer that steps again behind
// another forward pass begins an iteration: programs that train two models step them in turn.
std::vector<size_t> EndsBySteps(const Landmarks& found, size_t entries) {
  // Programs without modules are known by their backward passes.
  const std::vector<size_t>& passes = found.roots.empty() ? found.backwards : found.roots;
  std::vector<size_t> ends;
  std::set<std::string_view> steps, stepped, before;  // since the last pass, in this iteration, in
                                                      // the last iteration
  size_t end = 0;                                     // of this iteration so far
  for (size_t i = 0; i < found.steps.size(); ++i) {
    const size_t at = found.steps[i].at;
    steps.insert(found.steps[i].optimizer);
    const size_t next_pass = FirstFrom(passes, at, entries);
    if (i + 1 < found.steps.size() && found.steps[i + 1].at < next_pass) continue;
    const bool repeats = std::any_of(steps.begin(), steps.end(), [&](std::string_view optimizer) {
      return stepped.count(optimizer) > 0;
    });
    if (repeats) {
      ends.push_back(end);
      before = std::exchange(stepped, {});
    }
    stepped.merge(std::exchange(steps, {}));
    const size_t last = found.roots.empty() ? at : LastBelow(found.tails, next_pass, at);
    end = std::max(last, at) + 1;
  }
  // The program may have ended, or have been ended, between the steps of its last iteration.
  if (!stepped.empty() &&
      std::includes(stepped.begin(), stepped.end(), before.begin(), before.end())) {
    ends.push_back(end);
  }
  return ends;
}

// Returns the ends of the iterations of a program that repeats itself: the period p of what it asks
// of the GPU for which the most of the log equals what is p before it.
std::vector<size_t> EndsByPeriod(const ProcessLog& log) {
  std::vector<size_t> places;
  std::vector<uint64_t> work;  // backwards: programs start differently, and then settle
  const std::vector<LogEntry>& entries = log.entries();
  for (size_t i = entries.size(); i-- > 0;) {
    const LogEntry& entry = entries[i];
    const bool is_work = entry.kind == EntryKind::kLaunch || entry.kind == EntryKind::kProduct ||
                         entry.kind == EntryKind::kAttention ||
                         entry.kind == EntryKind::kConvolution ||
                         entry.kind == EntryKind::kLaunchGraph || entry.kind == EntryKind::kCall;
    if (!is_work) continue;
    uint64_t hash = static_cast<uint64_t>(entry.kind);
    for (size_t word = 0; word < entry.words.size(); ++word) {
      if (entry.kind == EntryKind::kCall && word == 8) continue;  // the number of the group
      hash = (hash ^ static_cast<uint64_t>(entry.words[word])) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    work.push_back(hash);
    places.push_back(i);
  }
  // z[p]: how many of the last entries equal those p before them.
  std::vector<size_t> z(work.size(), 0);
  size_t left = 0, right = 0, period = 0;
  for (size_t i = 1; i < work.size(); ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < work.size() && work[z[i]] == work[i + z[i]]) ++z[i];
    if (i + z[i] > right) {
      left = i;
      right = i + z[i];
    }
    if (z[i] >= i && (period == 0 || z[i] > z[period])) period = i;
  }
  std::vector<size_t> ends;
  if (period == 0) return ends;
  for (size_t last = 0; last < z[period] + period; last += period) ends.push_back(places[last] + 1);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

}  // namespace

const OperatorRange& LogRanges::RangeOf(const LogEntry& entry) { return RangeOf(entry.words[0]); }

const OperatorRange& LogRanges::RangeOf(int64_t number) {
  const auto at = static_cast<size_t>(number);
  if (at >= ranges_.size()) ranges_.resize(at + 1);
  if (!ranges_[at]) ranges_[at] = std::make_unique<OperatorRange>(ParseRange(log_.name(number)));
  return *ranges_[at];
}

const OperatorValues& LogRanges::OutputsOf(int64_t number) {
  const auto at = static_cast<size_t>(number);
  if (at >= outputs_.size()) outputs_.resize(at + 1);
  if (!outputs_[at])
    outputs_[at] = std::make_unique<OperatorValues>(ParseValues(log_.name(number)));
  return *outputs_[at];
}

std::vector<LogIteration> FindIterations(const ProcessLog& log, LogRanges* ranges) {
  const Landmarks found = FindLandmarks(log, ranges);
  const size_t entries = log.entries().size();
  bool has_steps = !found.steps.empty();
  std::vector<size_t> ends;
  if (has_steps) ends = EndsBySteps(found, entries);
  // A step in a CUDA graph is seen only while the graph is captured.
  if (!has_steps || found.has_graphs) {
    std::vector<size_t> repeated = EndsByPeriod(log);
    if (repeated.size() > ends.size() + 1) {
      ends = std::move(repeated);
      has_steps = false;
    }
  }
  std::vector<LogIteration> iterations;
  // The first iteration begins with its forward pass: what came before made the model. Without
  // steps, whatever precedes the first repetition is the start.
  size_t begin = 0;
  if (has_steps) {
    begin = FirstFrom(found.roots, 0, 0);
  } else if (!ends.empty()) {
    begin = ends.front();
  }
  for (const size_t end : ends) {
    if (end <= begin) continue;
    LogIteration iteration = {begin, end, begin, end};
    iteration.forward = std::min(FirstFrom(found.roots, begin, begin), end);
    const size_t last = LastBelow(found.backwards, end, begin);
    iteration.backward_end = last > begin ? last + 1 : end;
    iterations.push_back(iteration);
    begin = end;
  }
  return iterations;
}

}  // namespace drydock::capture
