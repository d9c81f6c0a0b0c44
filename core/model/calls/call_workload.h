// Workloads of communication alone, for collective-perf and the tools that fit costs.
#ifndef DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_
#define DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_

#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

// Returns a workload in which every member of every group makes the calls in order, on one stream;
// other ranks are idle. REQUIRES: all groups have the calls' group_size; no rank is in two groups.
Workload WorkloadOfCalls(const Topology& topology, std::vector<Group> groups,
                         std::vector<CommCall> calls);

// A workload of one call in all its groups, and the plans of the call.
struct CallAlone {
  Workload workload;
  FlowPlan plan;
};
// Returns one call of such a workload by itself.
CallAlone TakeCall(const Workload& workload, const FlowPlan& plan, uint32_t call);
// Makes every member repeat the call `times` times, back to back. REQUIRES: `times` > 0.
void Repeat(int times, CallAlone* alone);

// Returns the times of a workload without compute.
KernelTimes NoKernelTimes(const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_
