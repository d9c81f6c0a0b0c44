// Walks a channel program primitive by primitive; counts primitives without walking.
#ifndef DRYDOCK_CORE_MODEL_CALLS_STEP_CURSOR_H_
#define DRYDOCK_CORE_MODEL_CALLS_STEP_CURSOR_H_

#include <algorithm>
#include <cstdint>

#include "core/model/flow_plan.h"

namespace drydock {

// A position in a program: at one primitive, or done. A small value.
// REQUIRES: the pattern outlives the cursor.
class StepCursor {
 public:
  StepCursor() = default;  // done
  // Starts at the first primitive of a program that runs `pattern` at `position`.
  StepCursor(const Pattern& pattern, uint32_t position);

  bool done() const { return bytes_ == 0; }
  // REQUIRES for the following: !done().
  uint32_t step_index() const { return step_; }  // into Pattern::steps
  const Step& step() const { return pattern_->steps[step_]; }
  int64_t bytes() const { return bytes_; }
  // Returns the offset in the user's buffer. `program`: the program of this cursor.
  int64_t Offset(const Plan& plan, const ChannelProgram& program) const;
  void Next();

 private:
  void Settle();
  bool NextLoop();

  const Pattern* pattern_ = nullptr;
  uint32_t position_ = 0;
  uint32_t loop_ = 0, step_ = 0, step_end_ = 0;
  uint32_t run_ = 0;    // primitives of the step already visited
  uint32_t chunk_ = 0;  // of the current primitive
  int64_t iteration_ = 0;
  int64_t bytes_ = 0;  // of the current primitive; 0: done
};

// The whole chunks, and the short last chunk, that a step visits at `position`.
struct ChunkCounts {
  int64_t whole = 0;
  int64_t last = 0;  // 0 or 1
};
ChunkCounts CountChunks(const Step& step, uint32_t ring, uint32_t position);

// Calls visit(step, bytes, times) for every step and size of primitive of a program, not in order
// of time.
template <typename Visit>
void ForEachSize(const Pattern& pattern, uint32_t position, const Visit& visit) {
  uint32_t s = 0;
  for (const Loop& loop : pattern.loops) {
    for (; s < loop.step_end; ++s) {
      const Step& step = pattern.steps[s];
      const ChunkCounts counts = CountChunks(step, pattern.ring, position);
      if (counts.whole > 0) visit(step, step.bytes, counts.whole * loop.repeat);
      if (counts.last > 0) visit(step, step.last_bytes, loop.repeat);
    }
  }
}

// Returns the number of primitives of all programs of a plan.
int64_t CountPrimitives(const Plan& plan);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_STEP_CURSOR_H_
