#include "exec-engine/index/plan_ends.h"

#include <algorithm>

namespace drydock {
namespace {

// Leaves out the position of a chunk in the buffer, which does not affect its cost.
Signature SignatureOf(const Pattern& pattern) {
  Signature out = {pattern.ring, pattern.operands, static_cast<int64_t>(pattern.loops.size())};
  for (const Loop& loop : pattern.loops) out.insert(out.end(), {loop.repeat, loop.step_end});
  for (const Step& step : pattern.steps) {
    out.insert(out.end(), {step.receive.begin, step.receive.count, step.send.begin, step.send.count,
                           step.first, step.count, step.whole_chunks, step.bytes, step.last_bytes,
                           step.reduce, step.store, step.joined, step.merged});
  }
  return out;
}

Signature SignatureOf(const std::vector<Work>& works) {
  Signature out;
  for (const Work& work : works) {
    out.insert(out.end(),
               {static_cast<int64_t>(work.algorithm), static_cast<int64_t>(work.protocol),
                work.channels, work.warps, work.slice_bytes, work.slots, work.launch, work.slices,
                work.slice_grain, work.registered});
  }
  return out;
}

// Numbers the ends of one member in the order in which its programs name them.
void FindEnds(const Plan& plan, size_t member, PlanEnds* ends) {
  std::vector<uint32_t>& own = ends->of_member[member];
  for (const ChannelProgram& program : plan.members[member]) {
    for (uint32_t i = 0; i < plan.patterns[program.pattern].operands; ++i) {
      const uint32_t c = plan.operands[program.operand_begin + i];
      const auto next = static_cast<uint32_t>(own.size());
      bool added = false;
      if (plan.connections[c].from == member && ends->at_sender[c] == kNoEnd) {
        ends->at_sender[c] = next;
        added = true;
      }
      if (plan.connections[c].to == member && ends->at_receiver[c] == kNoEnd) {
        ends->at_receiver[c] = next;
        added = true;
      }
      if (added) own.push_back(c);
    }
  }
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

const PlanEnds& PlanEndsTable::Of(const Plan& plan) {
  std::unique_ptr<PlanEnds>& ends = ends_[&plan];
  if (ends == nullptr) ends = Find(plan);
  return *ends;
}

std::unique_ptr<PlanEnds> PlanEndsTable::Find(const Plan& plan) {
  auto ends = std::make_unique<PlanEnds>();
  ends->of_member.resize(plan.members.size());
  ends->at_sender.assign(plan.connections.size(), kNoEnd);
  ends->at_receiver.assign(plan.connections.size(), kNoEnd);
  for (const Pattern& pattern : plan.patterns) {
    const bool by_position =
        std::any_of(pattern.steps.begin(), pattern.steps.end(),
                    [&](const Step& step) { return step.whole_chunks < pattern.ring; });
    ends->by_position.push_back(by_position);
    ends->patterns.push_back(patterns_.Of(SignatureOf(pattern)));
    ends->spread.push_back(by_position ? patterns_.Of(SignatureOf(Spread(pattern)))
                                       : ends->patterns.back());
  }
  ends->works = works_.Of(SignatureOf(plan.works));
  for (size_t m = 0; m < plan.members.size(); ++m) FindEnds(plan, m, ends.get());
  return ends;
}

}  // namespace drydock
