// The costs of the communication calls of an iteration: one row for each distinct call, role and
// plan (algorithms, protocols and numbers of channels).
//
// Durations run from the first movement of data to the end, without the wait for late members. A
// collective counts once for each member, a message once, at its receiver.
// Bandwidths follow nccl-tests: algorithm bandwidth = bytes of the call / duration; bus bandwidth
// = algorithm bandwidth × BusFactor. Pure functions; deterministic order.
#ifndef DRYDOCK_REPORT_FACTS_COLLECTIVES_H_
#define DRYDOCK_REPORT_FACTS_COLLECTIVES_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/model/calls/plan_works.h"
#include "report/inputs/inputs.h"

namespace drydock {

// The bytes that cross each member's link for one byte of the call, over n members (nccl-tests,
// PERFORMANCE.md): all-reduce 2(n-1)/n; all-gather, reduce-scatter and all-to-all (n-1)/n;
// broadcast, reduce and send/recv 1.
double BusFactor(CollectiveType collective, int group_size);
// For a grouped call: the mean of its parts, weighted by bytes.
double BusFactor(const CommCall& call);

struct CollectiveRow {
  std::string role;  // of the group; the receiver's for messages
  CommCall call;
  std::vector<WorkKind> works;
  int64_t uses = 0;  // calls in the iteration, over all groups
  Time median;       // lower median of the members' durations
  Time max;
  Time total;                          // sum of the members' durations
  double algorithm_bandwidth() const;  // bytes per second, at the median; 0 if the median is 0
  double bus_bandwidth() const;

  std::string Name() const;      // "tp all-reduce fp16 100.7 MB over 8"
  std::string PlanName() const;  // "ring LL128", "ring LL x2, send-recv Simple"
};

// Returns the rows with the largest total first.
std::vector<CollectiveRow> SummarizeCollectives(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_COLLECTIVES_H_
