// Chooses the ranks that a trace shows. Ranks of one class do the same work, so the default is one
// rank of each class and the first tensor-parallel group, to compare collectives side by side.
#ifndef DRYDOCK_REPORT_FACTS_TRACE_RANKS_H_
#define DRYDOCK_REPORT_FACTS_TRACE_RANKS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

struct TraceRanks {
  static constexpr int kRepresentatives = 0;
  static constexpr int kAll = -1;
  int count = kRepresentatives;  // or a number of ranks
};

// Parses "all" or a number of at least 1.
Result<TraceRanks> ParseTraceRanks(const std::string& text);

// Returns ranks in ascending order. A number takes the lowest rank of each class first, then the
// rest of the first tensor-parallel group, then other ranks in order.
std::vector<int> ChooseRanks(const Workload& workload, TraceRanks choice);

// Returns the lowest rank of each class that has ranks, by class.
std::vector<int> ClassRepresentatives(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_TRACE_RANKS_H_
