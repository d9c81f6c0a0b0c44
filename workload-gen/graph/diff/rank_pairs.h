// Which ranks are compared. Rank r of one workload is compared with rank r of the other. Ranks
// whose programs are equal on both sides, with groups that correspond, are compared once.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_RANK_PAIRS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_RANK_PAIRS_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

struct RankPair {
  int rank = 0;       // the first of them, which represents the others
  int64_t ranks = 0;  // how many
};

// Ascending by rank. Looks at the ranks that both workloads have.
std::vector<RankPair> RankPairs(const Workload& a, const Workload& b);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_RANK_PAIRS_H_
