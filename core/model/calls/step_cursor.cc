#include "core/model/calls/step_cursor.h"

namespace drydock {

StepCursor::StepCursor(const Pattern& pattern, uint32_t position)
    : pattern_(&pattern), position_(position) {
  if (pattern.loops.empty()) return;
  step_end_ = pattern.loops[0].step_end;
  Settle();
}

void StepCursor::Next() {
  ++run_;
  Settle();
}

// Advances to the next primitive that moves data, which may be the current one.
void StepCursor::Settle() {
  for (;;) {
    if (step_ == step_end_) {
      if (!NextLoop()) return;
      continue;
    }
    const Step& step = pattern_->steps[step_];
    if (run_ < step.count) {
      const uint32_t ring = pattern_->ring;
      chunk_ = position_ + step.first + (run_ <= position_ + step.first ? 0 : ring) - run_;
      if (chunk_ >= ring) chunk_ -= ring;
      if (chunk_ < step.whole_chunks) {
        bytes_ = step.bytes;
        return;
      }
      if (chunk_ == step.whole_chunks && step.last_bytes > 0) {
        bytes_ = step.last_bytes;
        return;
      }
      // Chunks are visited in descending order: the next chunk with data is the last that has any.
      const uint32_t end = step.whole_chunks + (step.last_bytes > 0 ? 1 : 0);
      if (end > 0) {
        run_ += chunk_ - (end - 1);
        continue;
      }
    }
    run_ = 0;
    ++step_;
  }
}

// Repeats the current loop or goes to the next one. Returns false at the end of the program.
bool StepCursor::NextLoop() {
  const Loop& loop = pattern_->loops[loop_];
  if (++iteration_ < loop.repeat) {
    step_ = loop_ == 0 ? 0 : pattern_->loops[loop_ - 1].step_end;
    return true;
  }
  iteration_ = 0;
  if (++loop_ < pattern_->loops.size()) {
    step_end_ = pattern_->loops[loop_].step_end;
    return true;
  }
  bytes_ = 0;
  return false;
}

int64_t StepCursor::Offset(const Plan& plan, const ChannelProgram& program) const {
  const int64_t piece =
      program.order < 0 ? chunk_ : plan.orders[static_cast<size_t>(program.order)][chunk_];
  const Step& at = step();
  return program.base + iteration_ * pattern_->loops[loop_].stride + at.offset + piece * at.pitch;
}

ChunkCounts CountChunks(const Step& step, uint32_t ring, uint32_t position) {
  const uint32_t start = (position + step.first) % ring;
  // Visits chunks from `start` down to 0, then from the end of the ring down.
  const uint32_t before = std::min(step.count, start + 1);
  const uint32_t low[2] = {start + 1 - before, ring - (step.count - before)};
  const uint32_t high[2] = {start + 1, ring};  // exclusive
  ChunkCounts out;
  for (int part = 0; part < 2; ++part) {
    const uint32_t whole = std::clamp(step.whole_chunks, low[part], high[part]);
    out.whole += whole - low[part];
    if (step.last_bytes > 0 && step.whole_chunks >= low[part] && step.whole_chunks < high[part]) {
      out.last = 1;
    }
  }
  return out;
}

int64_t CountPrimitives(const Plan& plan) {
  int64_t total = 0;
  for (const std::vector<ChannelProgram>& programs : plan.members) {
    for (const ChannelProgram& program : programs) {
      ForEachSize(plan.patterns[program.pattern], program.position,
                  [&total](const Step&, int64_t, int64_t times) { total += times; });
    }
  }
  return total;
}

}  // namespace drydock
