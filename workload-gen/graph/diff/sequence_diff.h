// The longest common subsequence of two sequences of numbers, as Myers finds it ("An O(ND)
// difference algorithm", 1986), in pieces of bounded work. Internal to diff.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_SEQUENCE_DIFF_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_SEQUENCE_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace drydock {

// Returns the matched pairs of indices (in `a`, in `b`), ascending in both. The search stops after
// `max_edits` insertions and deletions, because the sequences then have little in common.
std::vector<std::pair<uint32_t, uint32_t>> MatchSequences(const std::vector<uint32_t>& a,
                                                          const std::vector<uint32_t>& b,
                                                          size_t max_edits = 2000);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_SEQUENCE_DIFF_H_
