// Makes the plans of calls as one host runs them.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_HOST_PLANNER_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_HOST_PLANNER_H_

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "core/containers/hash.h"
#include "core/model/sharing_costs.h"
#include "core/model/workload.h"
#include "exec-engine/folding/replica_folding.h"
#include "exec-engine/index/known_times.h"
#include "exec-engine/index/replay_index.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {

// Returns true if no member can end before the last member has started.
bool WaitsForAll(CollectiveType type);

// The plan of one use on one host.
struct HostPlan {
  uint32_t call = 0;
  LocalPlan plan;
  bool plays_alone = false;          // the call may be played alone (lone_calls.h)
  // No member can end before the last one has started. Else the call is played alone only if all
  // members start before the first one's kernel runs.
  bool waits_for_all = false;
  bool spans = false;                // the call may be left out (spanning_calls.h)
  bool serves_every_member = false;  // ReplicaFolding::ServesEveryMember
  // Of calls that may be played alone: the times that all hosts know, and the times that this host
  // has looked up, by offsets of arrival.
  KnownTimes::OfPlan* known = nullptr;
  std::unordered_map<KnownTimes::Offsets, const KnownTimes::Times*, RangeHash> times;
};

// Not thread-safe; one per host.
class HostPlanner {
 public:
  // All arguments outlive this. `play_alone`: calls inside the host may be played alone. `folding`
  // is null if the host represents itself only.
  HostPlanner(HostId host, const ReplayIndex& index, const PortMap& ports,
              const SharingCosts& sharing, bool play_alone, ReplicaFolding* folding)
      : host_(host),
        index_(index),
        ports_(ports),
        sharing_(sharing),
        play_alone_(play_alone),
        folding_(folding) {}

  // REQUIRES: the index has a plan for `use`.
  std::unique_ptr<HostPlan> Make(const Workload::Use& use) const;

 private:
  LocalPlan MakeLocal(const Plan& plan, const Workload::Use& use, bool serves_every_member) const;
  void Redirect(const Workload::Use& use, bool serves_every_member, LocalPlan* plan) const;

  const HostId host_;
  const ReplayIndex& index_;
  const PortMap& ports_;
  const SharingCosts& sharing_;
  const bool play_alone_;
  ReplicaFolding* const folding_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_HOST_PLANNER_H_
