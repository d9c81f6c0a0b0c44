// Which ranks a trace shows. Ranks of one class do the same, so by default one of each is shown,
// and the whole first tensor-parallel group, in which collectives can be compared side by side.
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
  int count = kRepresentatives;  // or how many ranks
};

// "all", or a number of at least 1.
Result<TraceRanks> ParseTraceRanks(const std::string& text);

// Ascending. A number of ranks takes the lowest rank of each class first, then the rest of the
// first tensor-parallel group, then the others in order.
std::vector<int> ChooseRanks(const Workload& workload, TraceRanks choice);

// The lowest rank of each class that has ranks, by class.
std::vector<int> ClassRepresentatives(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_TRACE_RANKS_H_
