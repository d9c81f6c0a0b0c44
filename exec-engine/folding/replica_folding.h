// Replicas folded into one: of hosts that are alike (alike_hosts.h) one is replayed, which stands
// for all. What it sends to another host arrives at the one that stands for that host, on the
// connection that is there what this one is to the receiver; so a ring of replicas becomes messages
// of a host to itself or to its neighbour of another kind. Everybody then has exactly the
// neighbours that everybody it stands for has.
//
// Exact: ways that connections have in common take the same time, and no time changes but where
// things of one instant are put in order by the numbers of hosts. Relaxed, where rows of racks or a
// call's tree would make every host another: a connection takes the mean way of those it stands
// for; what is left over for the last chunks of a ring is spread over all; and in short calls whose
// members do different things, who stands for others plays all their parts, which costs him little,
// and is done with the last of them.
//
// Not thread-safe: for networks that run on one thread.
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_FOLDING_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_FOLDING_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/fabric/fabric_paths.h"
#include "core/model/variation.h"
#include "exec-engine/folding/alike_hosts.h"
#include "exec-engine/folding/fold.h"
#include "exec-engine/index/plan_ends.h"
#include "exec-engine/index/replay_index.h"
#include "exec-engine/network/flow_ends.h"
#include "exec-engine/network/network.h"

namespace drydock {

class ReplicaFolding {
 public:
  // Null if no two hosts are alike, or chance makes all of them different. `index` outlives it.
  // `exactly`: the network can fold without changing anything; else kAuto takes few ranks as they
  // are.
  static std::unique_ptr<ReplicaFolding> Find(const ReplayIndex& index, const Variation& variation,
                                              Fold fold, bool exactly = true);

  HostId StandsFor(HostId host) const {  // who stands for it
    return standing_for_[static_cast<size_t>(host)];
  }
  bool Replayed(HostId host) const { return StandsFor(host) == host; }
  int64_t Replicas(HostId replayed) const { return replicas_[static_cast<size_t>(replayed)]; }
  int RankFor(int rank) const;  // the one that stands for it
  int hosts_replayed() const { return alike_.kinds; }
  bool relaxed() const { return relaxed_; }
  // What the call runs: its plan, or that with its patterns spread.
  const Plan& PlanOf(const Workload::Use& use);
  // Who stands for members of the group plays all their parts.
  bool PlaysAllParts(const Workload::Use& use) const;
  const ReplayIndex& index() const { return index_; }

  // One end of a connection: of a rank, in a call of a group.
  struct End {
    Workload::Use use;
    uint32_t connection = 0;
    bool sends = false;
  };
  // Where what a replayed host sends on a connection arrives, and how.
  struct Wire {
    uint32_t group = 0, connection = 0;  // as the receiver has them
    HostId seen_from = 0;                // the sender, as the receiver has it
    FabricPath path;                     // switches < 0: that of the message's own ends
    int64_t alike = 1;                   // so many there are
    bool part = false;                   // of a call of which all parts are played
    End end;                             // the sender's of the message
  };
  // For Message::wire; 0 where nothing need be known.
  uint32_t WireOf(const Workload::Use& use, uint32_t connection, bool sends);
  const Wire& wire(uint32_t number) const { return wires_[number]; }
  HostId SeenFrom(const Message& message) const {
    return message.wire == 0 ? message.source : wires_[message.wire].seen_from;
  }
  // What carries the data of connections that are alike, for networks that share links: `wire`'s
  // and those that it stands for. Empty of what brings no data, and of parts.
  std::vector<FlowEnds> AlikeFlows(uint32_t wire) const;
  // The same in a call of which all parts are played; 0 inside a host.
  uint32_t WireOfPart(const Workload::Use& use, uint32_t connection, bool sends);
  int64_t AlikeOf(const Message& message) const {
    return message.wire == 0 ? Replicas(message.source) : wires_[message.wire].alike;
  }
  // As the one who stands for its destination is to have it.
  Message AtReceiver(const Message& message) const;
  int64_t mean_ways() const { return mean_ways_; }  // wires whose ways differ
  int64_t spread_calls() const;                     // of which the patterns are spread, by group
  int64_t uneven_calls() const;                     // of which all parts are played, by group

 private:
  ReplicaFolding(const ReplayIndex& index, AlikeHosts alike, bool relaxed,
                 std::unique_ptr<PlanEndsTable> ends);
  size_t IndexOf(const Workload::Use& use) const;
  int RankAt(const End& end) const;
  End SameEndOf(const End& end, int rank) const;
  FabricPath PathFrom(const End& end);
  FabricPath MeanPath(const End& end);
  uint32_t Add(const Wire& wire);
  bool PartsMeet() const;

  const ReplayIndex& index_;
  const AlikeHosts alike_;
  const bool relaxed_;
  std::unique_ptr<PlanEndsTable> ends_;
  FabricPaths paths_;
  std::unordered_map<const Plan*, std::unique_ptr<const Plan>> spread_;  // only looked up
  std::vector<HostId> standing_for_;                                     // by host
  std::vector<int64_t> replicas_;             // by host; 0 where another stands for it
  std::vector<std::vector<HostId>> of_kind_;  // hosts that are alike
  std::vector<Wire> wires_ = {Wire()};
  int64_t mean_ways_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_FOLDING_H_
