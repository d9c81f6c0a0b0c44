// A time that no replay of a workload undercuts, over any network.
//
// It is the longest path through the ops of ranks that send to one another (the stages of a
// pipeline), where
//   - an op starts when its dependencies have ended and its stream is free, as in the replay;
//   - compute takes its kernels' time, without the gaps between them;
//   - a receive ends no earlier than its send starts, plus the message's bytes over the rate at
//     which the receiver's host (or, inside a host, its GPU) takes data;
//   - a collective takes at least the bytes that a member, or a member's host, has to take in from
//     the others, over that rate. Reduction in switches cannot lower this.
// Latencies, launches, contention and protocols only add. Pure function.
#ifndef DRYDOCK_STUDY_SEARCH_LOWER_BOUND_H_
#define DRYDOCK_STUDY_SEARCH_LOWER_BOUND_H_

#include "core/base/units.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

// `times`: of this workload, without the variation of a cluster that has one.
Time LowerBound(const Workload& workload, const KernelTimes& times);

// The least time of a collective in a group of these ranks.
Time LeastTime(const CommCall& call, const std::vector<int>& ranks, const Topology& topology,
               const Placement& placement);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_LOWER_BOUND_H_
