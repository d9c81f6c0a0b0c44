// The replay: makes a timeline of a workload, the plans of its calls and the times of its kernels,
// over a network. The same inputs give the same timeline for any number of threads and processes.
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
#include "core/network/network_log.h"
#include "exec-engine/folding/fold.h"
#include "exec-engine/replay/network_model.h"
#include "exec-engine/replay/progress.h"

namespace drydock {

struct ReplayOptions {
  NetworkOptions network;
  // Calls inside a host are played once and then looked up (communication.h). Changes no timeline;
  // tests switch it off to prove that.
  bool shortcut = true;
  // The steady state of a schedule is replayed once, if the network can tell it (steady_state.h).
  // Changes nothing; tests switch it off to prove that.
  bool leave_out_periods = true;
  // One representative is replayed for its replicas, if the network can (replica_folding.h).
  Fold fold = Fold::kOff;
  // Stops the run at this time. The timeline then says that the run was stopped.
  Time until = Time::Max();
  // By GPU type: what running calls take from compute. Empty: nothing.
  std::vector<SharingCosts> sharing;
  Variation variation;
  int iterations = 1;            // repeat.h; several only with until == Time::Max()
  Progress* progress = nullptr;  // of the hosts of this process
  NetworkLog* log = nullptr;     // set if the network keeps one
};

// Returns an error if the inputs do not match, the network cannot be made, or some op can never
// end. In the last case the error says which ranks wait for which ranks, and in which ops. With
// several processes, all of them call this function. They get the same error, but only the first
// process gets the timeline and the log.
Result<Timeline> Replay(const Workload& workload, const FlowPlan& plan, const KernelTimes& times,
                        const NetworkModel& network, const ReplayOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_REPLAY_H_
