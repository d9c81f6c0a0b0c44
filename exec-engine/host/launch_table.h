// The cost of launching each op, for one kind of host: the costs that the workload states, at the
// speed of the host's CPU. Built once, immutable, shared by all hosts and threads.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_TABLE_H_
#define DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_TABLE_H_

#include <cstdint>
#include <vector>

#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

// Counted from the moment at which the host begins with an op.
struct LaunchCost {
  Time first;  // until its first kernel is launched
  Time busy;   // until the host turns to the next op
  // The op does not end earlier than this after its first launch: kernel k is launched k costs
  // later, and then it and all later kernels still have to run.
  Time span;
  int64_t launches = 0;  // entries in the queue of the stream
  // Of `first` and of `busy`, the code of modules.
  Time first_code = {}, code = {};
};

class LaunchTable {
 public:
  // `times` are those of the host's GPU.
  LaunchTable(const Workload& workload, const HostKind& host, const GpuKernelTimes& times);

  bool modeled() const { return costs_.modeled(); }
  Time wait() const { return costs_.wait; }
  Time latency() const { return costs_.latency; }
  int64_t queue() const { return costs_.queue; }
  LaunchCost CostOf(const Op& op) const;

 private:
  HostLaunch costs_;
  std::vector<LaunchCost> blocks_;  // by block
  std::vector<LaunchCost> looped_;  // by block, if a loop without Python launches it
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_TABLE_H_
