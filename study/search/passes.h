// The least times of a micro-batch's passes through a rank's chunks.
//
// A pass is the compute of one micro-batch, chunk and direction; what backward repeats belongs to
// it. Passes run one after another on the stream of compute, so the times of a rank's passes add
// up. Where the passes of two micro-batches interleave, a pass counts its compute alone.
#ifndef DRYDOCK_STUDY_SEARCH_PASSES_H_
#define DRYDOCK_STUDY_SEARCH_PASSES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "study/search/least_times.h"

namespace drydock {

struct RankPass {
  int chunk = 0;
  bool backward = false;
  Time time;  // from the start of its first compute op to the end of its last one
  // Its compute ops, and the end of each after the start of the first.
  std::vector<std::pair<size_t, Time>> ends;
};

// The passes of one micro-batch, in order. Communication counts where compute of the pass waits for
// it.
std::vector<RankPass> PassesOf(int rank, int microbatch, LeastTimes* least);

// Compute ops that begin a pass or go on with one, from the first backward pass of a rank to its
// last forward pass: where a micro-batch more adds a forward and a backward pass. Empty without
// such passes.
std::vector<size_t> SteadyBegins(const Program& program);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_PASSES_H_
