#include "exec-engine/transfer/merged_loops.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/model/calls/slices.h"

namespace drydock {
namespace {

// Appends the loop's steps, with `together` iterations merged, `repeat` times.
void Append(std::span<const Step> steps, int64_t stride, int64_t repeat, int64_t together,
            Pattern* out) {
  if (repeat == 0) return;
  for (Step step : steps) {
    step.bytes *= together;
    step.last_bytes *= together;
    step.merged = static_cast<uint32_t>(together);
    out->steps.push_back(step);
  }
  out->loops.push_back({repeat, stride * together, static_cast<uint32_t>(out->steps.size())});
}

// Returns how many slices make the largest merged slice.
int64_t MostOf(int64_t slice, const Work& work, Merging merging) {
  if (slice < kMinMerged.count()) return 1;
  const int64_t most = kMaxMerged.count() / slice;
  return merging == Merging::kLargest ? most : std::min<int64_t>(most, work.slots / 2);
}

Pattern Merged(const Pattern& pattern, const Work& work, Merging merging) {
  Pattern out;
  out.ring = pattern.ring;
  out.operands = pattern.operands;
  uint32_t begin = 0;
  for (const Loop& loop : pattern.loops) {
    const std::span steps(pattern.steps.data() + begin, loop.step_end - begin);
    begin = loop.step_end;
    int64_t slice = 1;
    for (const Step& step : steps) slice = std::max(slice, SliceBytes(work, step.bytes));
    // The last iteration stays alone if a shorter loop follows, which must not wait for more than
    // without merging.
    const int64_t alone = loop.step_end < pattern.steps.size() ? 1 : 0;
    const int64_t iterations = loop.repeat - alone;
    const int64_t most = MostOf(slice, work, merging);
    const int64_t together = std::min(std::max<int64_t>(iterations, 1), std::max<int64_t>(most, 1));
    Append(steps, loop.stride, iterations / together, together, &out);
    Append(steps, loop.stride, iterations % together + alone, 1, &out);
  }
  return out;
}

// Gives the same answer at both ends of a connection.
bool Merges(const Plan& plan, const ChannelProgram& program) {
  const Work& work = plan.works[program.work];
  const Pattern& pattern = plan.patterns[program.pattern];
  if (work.protocol != Protocol::kSimple || work.algorithm != Algorithm::kSendRecv) return false;
  const std::span operands(plan.operands.data() + program.operand_begin, pattern.operands);
  return !operands.empty() && std::all_of(operands.begin(), operands.end(), [&](uint32_t c) {
    return plan.connections[c].link == LinkKind::kNet;
  });
}

void MergeLoops(Merging merging, Plan* plan) {
  std::map<std::pair<uint32_t, uint16_t>, uint32_t> merged;  // by pattern and work
  for (std::vector<ChannelProgram>& programs : plan->members) {
    for (ChannelProgram& program : programs) {
      if (!Merges(*plan, program)) continue;
      const auto next = static_cast<uint32_t>(plan->patterns.size());
      const auto [entry, added] = merged.try_emplace({program.pattern, program.work}, next);
      if (added) {
        plan->patterns.push_back(
            Merged(plan->patterns[program.pattern], plan->works[program.work], merging));
      }
      program.pattern = entry->second;
    }
  }
}

}  // namespace

FlowPlan WithMergedLoops(const FlowPlan& plan, Merging merging) {
  FlowPlan out = plan;
  for (Plan& each : out.plans) MergeLoops(merging, &each);
  return out;
}

}  // namespace drydock
