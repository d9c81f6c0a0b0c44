// Folding: of each equivalence class of hosts (host_equivalence_classes.h) one representative is
// replayed for all replicas. What a representative sends to another host arrives at that host's
// representative, on the connection that corresponds to the sender's. So a ring of replicas becomes
// messages from a host to itself, or to a neighbor of another class.
//
// Exact folding: corresponding connections have paths of equal length. No time changes, except
// where events of one instant are ordered by host number.
//
// Relaxed folding accepts hosts that differ in their rows of racks or their nodes of a tree. A
// connection takes the mean path of the connections that it represents. The shorter last chunks of
// a ring are spread over all its chunks. In a short call whose members do different work, a
// representative does the work of every member that it represents, which costs little. For the
// representative, the call ends with the last of this work.
//
// Not thread-safe: for networks that run on one thread.
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_FOLDING_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_FOLDING_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/model/fabric/fabric_paths.h"
#include "core/model/variation.h"
#include "exec-engine/folding/fold.h"
#include "exec-engine/folding/host_equivalence_classes.h"
#include "exec-engine/folding/replica_map.h"
#include "exec-engine/index/plan_ends.h"
#include "exec-engine/index/replay_index.h"

namespace drydock {

class ReplicaFolding final : public ReplicaMap {
 public:
  // Returns null if no two hosts are equivalent, or if random jitter makes all hosts differ. The
  // index outlives the folding. `exactly`: the network folds exactly; if it does not, kAuto folds
  // only runs with many ranks.
  static std::unique_ptr<ReplicaFolding> Find(const ReplayIndex& index, const Variation& variation,
                                              Fold fold, bool exactly = true);

  int RepresentativeRank(int rank) const;
  int hosts_replayed() const { return classes_.count; }
  bool relaxed() const { return relaxed_; }
  // Returns the plan that the call runs: its own, or its own with Spread patterns.
  const Plan& PlanOf(const Workload::Use& use);
  // Returns whether a representative does the work of every member that it represents.
  bool ServesEveryMember(const Workload::Use& use) const;

  // Returns the number of the folded connection (replica_map.h) that represents this end of the
  // connection; kNotFolded if the connection takes plain messages.
  uint32_t FoldConnection(const Workload::Use& use, uint32_t connection, bool sends);
  // The same for a call in which representatives serve every member; kNotFolded inside a host.
  uint32_t FoldConnectionForEveryMember(const Workload::Use& use, uint32_t connection, bool sends);
  std::vector<FlowEnds> ReplicaFlows(uint32_t number) const override;

  int64_t mean_paths() const { return mean_paths_; }  // connections whose replicas' paths differ
  int64_t spread_calls() const;                       // counted by group
  int64_t uneven_calls() const;                       // counted by group

 private:
  // One end of a connection: of a rank, in a call of a group.
  struct End {
    Workload::Use use;
    uint32_t connection = 0;
    bool sends = false;
  };

  ReplicaFolding(const ReplayIndex& index, HostEquivalenceClasses classes, bool relaxed,
                 std::unique_ptr<PlanEndsTable> ends);
  size_t IndexOf(const Workload::Use& use) const;
  const std::vector<HostId>& ReplicasOf(HostId host) const;
  int RankAt(const End& end) const;
  End CorrespondingEnd(const End& end, int rank) const;
  FabricPath PathFrom(const End& end);
  FabricPath MeanPath(const End& end);
  uint32_t AddEnd(const FoldedConnection& connection, const End& end);
  bool UnevenCallsMeet() const;

  const ReplayIndex& index_;
  const HostEquivalenceClasses classes_;
  const bool relaxed_;
  std::unique_ptr<PlanEndsTable> ends_;
  FabricPaths paths_;
  std::unordered_map<const Plan*, std::unique_ptr<const Plan>> spread_;  // only looked up
  std::vector<std::vector<HostId>> hosts_of_class_;
  std::vector<End> sending_end_ = {End()};  // by folded connection
  int64_t mean_paths_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_FOLDING_H_
