#include "exec-engine/index/plan_ends.h"

#include <algorithm>

#include "core/containers/hash.h"

namespace drydock {
namespace {

uint64_t NumberOf(const Step& step) {
  return HashOf(step.receive.begin, step.receive.count, step.send.begin, step.send.count,
                step.first, step.count, step.whole_chunks, step.bytes, step.last_bytes, step.reduce,
                step.store, step.joined);
}

// Where a chunk lies in the buffer is left out: it costs nothing.
uint64_t NumberOf(const Pattern& pattern) {
  uint64_t number = HashOf(pattern.ring, pattern.operands);
  for (const Loop& loop : pattern.loops) number = HashOf(number, loop.repeat, loop.step_end);
  for (const Step& step : pattern.steps) number = HashOf(number, NumberOf(step));
  return number;
}

uint64_t NumberOf(const Work& work) {
  return HashOf(static_cast<uint64_t>(work.algorithm), static_cast<uint64_t>(work.protocol),
                work.channels, work.warps, work.slice_bytes, work.slots, work.launch, work.slices,
                work.slice_grain, work.registered);
}

}  // namespace

Pattern Spread(const Pattern& pattern) {
  Pattern out = pattern;
  for (Step& step : out.steps) {
    const int64_t all = step.whole_chunks * step.bytes + step.last_bytes;
    if (step.whole_chunks >= pattern.ring || all == 0) continue;
    step.bytes = (all + pattern.ring - 1) / pattern.ring;
    step.whole_chunks = Step().whole_chunks;
    step.last_bytes = 0;
  }
  return out;
}

PlanEnds::PlanEnds(const Plan& plan)
    : of_member(plan.members.size()),
      at_sender(plan.connections.size(), kNoEnd),
      at_receiver(plan.connections.size(), kNoEnd) {
  for (const Pattern& pattern : plan.patterns) {
    patterns.push_back(NumberOf(pattern));
    spread.push_back(NumberOf(Spread(pattern)));
    by_position.push_back(
        std::any_of(pattern.steps.begin(), pattern.steps.end(),
                    [&](const Step& step) { return step.whole_chunks < pattern.ring; }));
  }
  for (const Work& work : plan.works) works = HashOf(works, NumberOf(work));
  for (size_t m = 0; m < plan.members.size(); ++m) {
    std::vector<uint32_t>& ends = of_member[m];
    for (const ChannelProgram& program : plan.members[m]) {
      for (uint32_t i = 0; i < plan.patterns[program.pattern].operands; ++i) {
        const uint32_t c = plan.operands[program.operand_begin + i];
        const auto next = static_cast<uint32_t>(ends.size());
        bool added = false;
        if (plan.connections[c].from == m && at_sender[c] == kNoEnd) {
          at_sender[c] = next;
          added = true;
        }
        if (plan.connections[c].to == m && at_receiver[c] == kNoEnd) {
          at_receiver[c] = next;
          added = true;
        }
        if (added) ends.push_back(c);
      }
    }
  }
}

}  // namespace drydock
