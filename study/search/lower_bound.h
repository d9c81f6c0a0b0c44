// A time that no replay of a workload undercuts, over any network.
//
// It is the longest path through the ops of ranks that send to one another (the stages of a
// pipeline), where
//   - an op starts when its dependencies have ended and its stream is free, as in the replay;
//   - an op takes its least time (least_times.h);
//   - a receive ends no earlier than its send starts, plus the message's bytes over the rate at
//     which the receiver's host (or, inside a host, its GPU) takes data.
// Pure function.
#ifndef DRYDOCK_STUDY_SEARCH_LOWER_BOUND_H_
#define DRYDOCK_STUDY_SEARCH_LOWER_BOUND_H_

#include <cstdint>

#include "core/base/units.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

// `times`: of this workload, without the variation of a cluster that has one.
//
// `more`: the run has so many more micro-batches than the workload, whose schedule has a steady
// phase: each of them adds its passes (passes.h) to every path through a rank's steady phase.
Time LowerBound(const Workload& workload, const KernelTimes& times, int64_t more = 0);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_LOWER_BOUND_H_
