// Writes a Pattern in the order in which a kernel loops. Offsets are bytes from the program's base;
// operands are indices into the program's list of connections. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_PLANNER_PATTERN_WRITER_H_
#define DRYDOCK_SIMCCL_PLANNER_PATTERN_WRITER_H_

#include <algorithm>
#include <cstdint>

#include "core/model/flow_plan.h"

namespace drydock {

// What a primitive does with its member's own memory.
enum class Local : uint8_t {
  kNone,    // forwards the received data; sends the local buffer if it received none
  kReduce,  // adds the local buffer to the received data
  kStore,   // stores the received data, or the local buffer, in the output
  kReduceStore,
};

// The chunks of a ring. Chunk c begins at offset + c * pitch and holds at most `bytes` bytes of
// those of `total` that the c chunks before it do not hold.
struct Chunks {
  int64_t bytes = 0;
  int64_t total = 0;
  int64_t offset = 0;
  int64_t pitch = 0;
};

class PatternWriter {
 public:
  PatternWriter() = default;
  // Chunk numbers are taken modulo `ring`.
  explicit PatternWriter(int ring) { pattern_.ring = static_cast<uint32_t>(ring); }

  // Starts a loop: steps added from now on run `repeat` times, each time `stride` bytes further.
  // Their offsets count from `offset`.
  void BeginLoop(int64_t repeat, int64_t stride, int64_t offset = 0);

  // Writes for (done = 0; done < total; done += stride) body(min(window, total - done)). Offsets in
  // `body` count from `offset` + `done`. REQUIRES: window <= stride.
  template <typename Body>
  void Windows(int64_t total, int64_t stride, int64_t window, int64_t offset, const Body& body) {
    const int64_t whole = total >= window ? (total - window) / stride + 1 : 0;
    if (whole > 0) {
      BeginLoop(whole, whole > 1 ? stride : 0, offset);
      body(window);
    }
    if (total > whole * stride) {
      BeginLoop(1, 0, offset + whole * stride);
      body(total - whole * stride);
    }
  }
  template <typename Body>
  void Windows(int64_t total, int64_t stride, int64_t window, const Body& body) {
    Windows(total, stride, window, 0, body);
  }
  // The same with windows as long as the stride.
  template <typename Body>
  void Loops(int64_t total, int64_t stride, int64_t offset, const Body& body) {
    Windows(total, stride, stride, offset, body);
  }
  template <typename Body>
  void Loops(int64_t total, int64_t stride, const Body& body) {
    Loops(total, stride, 0, body);
  }

  // Adds a step. A step of 0 bytes is left out at both ends of its connections.
  void Step(Slots receive, Slots send, int64_t bytes, int64_t offset, Local local);
  // The same as part of the primitive before, unless it is the `first` step of a primitive.
  void JoinedStep(Slots receive, Slots send, int64_t bytes, int64_t offset, Local local,
                  bool first);
  // Adds `count` primitives, from chunk `first` (relative to the program's position) downwards.
  void Run(Slots receive, Slots send, const Chunks& chunks, int first, int count, Local local);

  // Returns the pattern without empty loops. The writer must not be used again.
  Pattern Take();

 private:
  void Add(drydock::Step step, Local local);

  Pattern pattern_;
  int64_t loop_offset_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLANNER_PATTERN_WRITER_H_
