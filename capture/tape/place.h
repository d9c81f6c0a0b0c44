// Follows where the program is while its log is read: in which modules, which pass, which
// micro-batch.
#ifndef DRYDOCK_CAPTURE_TAPE_PLACE_H_
#define DRYDOCK_CAPTURE_TAPE_PLACE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/kernels/operator.h"
#include "capture/log/log_file.h"
#include "capture/tape/rank_tape.h"

namespace drydock::capture {

// An operator belongs to the innermost module around it. A node of autograd belongs to the module
// of the operator with its number, and so do the operators in it.
class PlaceTracker {
 public:
  // Where a thread is.
  struct Here {
    const OperatorRange* module = nullptr;  // null: in none
    int32_t microbatch = -1;
    bool in_backward = false;   // in a node of autograd, which does not repeat the forward pass
    bool in_recompute = false;  // in a node of autograd, which does
    bool in_step = false;       // of an optimizer, but not in a model that the step calls
    bool syncs = false;         // in a node that hands a gradient to its parameter
  };

  // `range` must live as long as the tracker.
  void Begin(uint32_t thread, const OperatorRange& range);
  void End(uint32_t thread);
  // A new iteration: micro-batches are counted from 0.
  void Restart();
  Here HereOf(uint32_t thread) const;
  // A node of autograd has begun in this iteration.
  bool has_seen_backward() const { return has_seen_backward_; }

 private:
  struct Origin {
    const OperatorRange* module = nullptr;
    int32_t microbatch = -1;
  };
  struct Frame {
    const OperatorRange* range = nullptr;
    Origin outer;  // the thread's, before the frame
  };
  struct Thread {
    std::vector<Frame> open;
    Origin now;
    int modules = 0, steps = 0;
    // Of the innermost node of autograd: its place in `open`, or -1, and how many operators in it
    // record gradients.
    int node = -1;
    int recomputes = 0;
    std::vector<std::pair<int, int>> outer_nodes;
  };

  void BeginNode(Thread* thread);

  std::unordered_map<uint32_t, Thread> threads_;
  std::unordered_map<int64_t, Origin> origins_;  // by sequence number
  std::unordered_map<int, int32_t> passes_;      // by root: forward passes of this iteration
  int32_t microbatch_ = -1;                      // of the last forward pass
  bool has_seen_backward_ = false;
};

// "self_attention.linear_qkv": a module's path without the layer that it is in.
std::string PathInLayer(const OperatorRange& module);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_PLACE_H_
