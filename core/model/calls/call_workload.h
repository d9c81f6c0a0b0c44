// Workloads of communication alone: what `collective-perf` and the tools that fit costs replay.
#ifndef DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_
#define DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_

#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

// Every member of every group makes the calls one after another, on one stream; other ranks do
// nothing. The groups are all as large as the calls' group_size, and no rank is in two of them.
Workload WorkloadOfCalls(const Topology& topology, std::vector<Group> groups,
                         std::vector<CommCall> calls);

// One call of such a workload, and its plans, alone: `workload` and `plan` have that call and
// nothing else.
struct CallAlone {
  Workload workload;
  FlowPlan plan;
};
CallAlone TakeCall(const Workload& workload, const FlowPlan& plan, uint32_t call);
// Every member makes the call so often, back to back. `times` > 0.
void Repeat(int times, CallAlone* alone);

// No kernel but NCCL's: times for a workload that computes nothing.
KernelTimes NoKernelTimes(const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_
