// The whole replay: a workload, what NCCL would do for its calls and how long its kernels take,
// over a network, to a timeline. The same inputs give the same timeline for any number of threads
// and processes.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_REPLAY_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/sharing_costs.h"
#include "core/model/timeline.h"
#include "core/model/variation.h"
#include "core/model/workload.h"
#include "exec-engine/folding/fold.h"
#include "exec-engine/network/network_log.h"
#include "exec-engine/replay/network_model.h"
#include "exec-engine/replay/progress.h"

namespace drydock {

struct ReplayOptions {
  NetworkOptions network;
  // Calls inside a host are played once and looked up again (communication.h). Never changes a
  // timeline; off in tests that show it.
  bool shortcut = true;
  // One representative is replayed for its replicas, if the network can (replica_folding.h).
  Fold fold = Fold::kOff;
  // Nothing happens after this moment: the timeline then says that the run was stopped there.
  Time until = Time::Max();
  // By GPU type: what calls take from compute beside them. Empty: nothing.
  std::vector<SharingCosts> sharing;
  Variation variation;
  int iterations = 1;            // one after another (repeat.h); more than one only to their end
  Progress* progress = nullptr;  // of this process's hosts, for whoever wants to look
  NetworkLog* log = nullptr;     // filled if the network keeps one
};

// An error if the inputs do not fit together, the network cannot be made, or some op can never end;
// the error then says which ranks wait for which op on whom. With several processes all of them
// call it: an error is the same in all, the timeline and the log are the first process's.
Result<Timeline> Replay(const Workload& workload, const FlowPlan& plan, const KernelTimes& times,
                        const NetworkModel& network, const ReplayOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_REPLAY_H_
