// Writes a Pattern as NCCL's kernels loop. Offsets are bytes from the program's base, operands are
// places in the program's own list of connections. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_EXPAND_PATTERN_WRITER_H_
#define DRYDOCK_SIMCCL_EXPAND_PATTERN_WRITER_H_

#include <algorithm>
#include <cstdint>

#include "core/model/flow_plan.h"

namespace drydock {

// What a primitive does with its member's own memory.
enum class Local : uint8_t {
  kNone,    // pass on what came, or send the local buffer if nothing came
  kReduce,  // combine what came with the local buffer
  kStore,   // keep what came (or the local buffer) in the output
  kReduceStore,
};

// The chunks of a ring: chunk c stands at offset + c * pitch and holds what is left of `total`
// after c chunks, at most `bytes`.
struct Chunks {
  int64_t bytes = 0;
  int64_t total = 0;
  int64_t offset = 0;
  int64_t pitch = 0;
};

class PatternWriter {
 public:
  PatternWriter() = default;
  // Chunks are counted modulo `ring`.
  explicit PatternWriter(int ring) { pattern_.ring = static_cast<uint32_t>(ring); }

  // Steps from here on run `repeat` times, each time `stride` bytes further on; their offsets count
  // from `offset`.
  void BeginLoop(int64_t repeat, int64_t stride, int64_t offset = 0);

  // for (done = 0; done < total; done += stride) body(min(window, total - done)), with offsets in
  // `body` from `offset` + `done`. window <= stride.
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
  // Where the windows are the strides.
  template <typename Body>
  void Loops(int64_t total, int64_t stride, int64_t offset, const Body& body) {
    Windows(total, stride, stride, offset, body);
  }
  template <typename Body>
  void Loops(int64_t total, int64_t stride, const Body& body) {
    Loops(total, stride, 0, body);
  }

  // A step of no bytes is left out, at both ends of its connections.
  void Step(Slots receive, Slots send, int64_t bytes, int64_t offset, Local local);
  // The same, going on with the primitive before unless it is the `first`.
  void JoinedStep(Slots receive, Slots send, int64_t bytes, int64_t offset, Local local,
                  bool first);
  // `count` primitives, from chunk `first` (relative to the program's position) downwards.
  void Run(Slots receive, Slots send, const Chunks& chunks, int first, int count, Local local);

  // Loops without steps are dropped. The writer is spent.
  Pattern Take();

 private:
  void Add(drydock::Step step, Local local);

  Pattern pattern_;
  int64_t loop_offset_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_PATTERN_WRITER_H_
