// The whole replay: a workload, what NCCL would do for its calls and how long its kernels take,
// over a network, to a timeline. The same inputs give the same timeline for any number of threads
// and processes.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/timeline.h"
#include "core/model/workload.h"
#include "exec-engine/network.h"
#include "exec-engine/network_log.h"

namespace drydock {

struct ReplayOptions {
  NetworkOptions network;
  // Calls inside a host are played once and looked up again (communication.h). Never changes a
  // timeline; off in tests that show it.
  bool shortcut = true;
  // Told now and then, from any one thread at a time, how many of all ops have ended.
  std::function<void(int64_t ended, int64_t all)> progress;
  NetworkLog* log = nullptr;  // filled if the network keeps one
};

// An error if the inputs do not fit together, the network cannot be made, or some op can never end;
// the error then says which ranks wait for which op on whom. With several processes all of them
// call it: an error is the same in all, the timeline and the log are the first process's.
Result<Timeline> Replay(const Workload& workload, const FlowPlan& plan, const KernelTimes& times,
                        const NetworkChoice& network, const ReplayOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_H_
