#include "simccl/planner/pattern_writer.h"

#include <utility>

#include "core/base/check.h"

namespace drydock {

void PatternWriter::BeginLoop(int64_t repeat, int64_t stride, int64_t offset) {
  CHECK(repeat > 0);
  pattern_.loops.push_back({repeat, stride, static_cast<uint32_t>(pattern_.steps.size())});
  loop_offset_ = offset;
}

void PatternWriter::Step(Slots receive, Slots send, int64_t bytes, int64_t offset, Local local) {
  JoinedStep(receive, send, bytes, offset, local, true);
}

void PatternWriter::JoinedStep(Slots receive, Slots send, int64_t bytes, int64_t offset,
                               Local local, bool first) {
  drydock::Step step;
  step.receive = receive;
  step.send = send;
  step.bytes = bytes;
  step.offset = offset;
  step.joined = !first;
  Add(step, local);
}

void PatternWriter::Run(Slots receive, Slots send, const Chunks& chunks, int first, int count,
                        Local local) {
  if (count <= 0 || chunks.total <= 0) return;
  drydock::Step step;
  step.receive = receive;
  step.send = send;
  step.first = static_cast<uint32_t>(first);
  step.count = static_cast<uint32_t>(count);
  const int64_t whole = chunks.total / chunks.bytes;
  if (whole < pattern_.ring) {
    step.whole_chunks = static_cast<uint32_t>(whole);
    step.last_bytes = chunks.total % chunks.bytes;
  }
  step.bytes = chunks.bytes;
  step.offset = chunks.offset;
  step.pitch = chunks.pitch;
  Add(step, local);
}

void PatternWriter::Add(drydock::Step step, Local local) {
  if (step.bytes <= 0) return;
  CHECK(step.first < pattern_.ring && step.count <= pattern_.ring);
  if (pattern_.loops.empty()) BeginLoop(1, 0);
  step.offset += loop_offset_;
  step.reduce = local == Local::kReduce || local == Local::kReduceStore;
  step.store = local == Local::kStore || local == Local::kReduceStore;
  for (const Slots& slots : {step.receive, step.send}) {
    pattern_.operands = std::max(pattern_.operands, slots.begin + slots.count);
  }
  pattern_.steps.push_back(step);
  pattern_.loops.back().step_end = static_cast<uint32_t>(pattern_.steps.size());
}

Pattern PatternWriter::Take() {
  uint32_t end = 0;
  std::erase_if(pattern_.loops, [&end](const drydock::Loop& loop) {
    return loop.step_end == std::exchange(end, loop.step_end);
  });
  return std::move(pattern_);
}

}  // namespace drydock
