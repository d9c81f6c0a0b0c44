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

// One thread of a process drives `gpus` GPUs, as with nccl-tests' -g: for each call it launches a
// kernel on one GPU after another, and goes on to the next call.
struct ProcessLaunch {
  int gpus = 1;
  Time each;  // host time of one launch; zero: launches take no time
  bool modeled() const { return each > Time(); }
};
// As Repeat, with the host's launches. `launch.gpus` consecutive members of a host share a process.
// REQUIRES: launch.modeled(), and `launch.gpus` divides the members of each host in each group.
void RepeatLaunched(int times, const ProcessLaunch& launch, CallAlone* alone);

// Returns the times of a workload without compute: each of its submodules has one kernel that takes
// no time.
KernelTimes NoKernelTimes(const Topology& topology, size_t submodules = 0);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_WORKLOAD_H_
