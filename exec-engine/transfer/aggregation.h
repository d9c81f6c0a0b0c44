// In-network reduction (InfiniBand SHARP) as the replay sees it: the senders and receivers of each
// aggregation node, for every reduction of every group.
//
// An aggregation node is the part of a switch that sums. To a Network it is one more host with a
// separate cable to its switch, so a network needs no code for it. The rate of the cable is the
// number of the switch's cables times the sum of their rates, so it is never a bottleneck. Its
// delay is half the `latency` of `fabric: sharp`, because data crosses it twice, in and out.
//
// Built once, immutable, shared by all hosts and threads.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/reductions.h"
#include "core/model/flow_plan.h"
#include "core/model/topology.h"
#include "core/network/network.h"
#include "exec-engine/transfer/aggregation_tree.h"

namespace drydock {

// A set of a reduction's pieces: ranges [begin, end), ascending and disjoint.
class PieceSet {
 public:
  using Range = ReductionEnd::Pieces;
  void Add(const Range& range);
  void Add(const PieceSet& other) {
    for (const Range& range : other.ranges_) Add(range);
  }
  bool Has(int64_t piece) const;
  // Returns the n-th piece, counted from 0. REQUIRES: n < count()
  int64_t At(int64_t n) const;
  int64_t count() const;

 private:
  std::vector<Range> ranges_;
};

// The place of a node in the tree of one reduction.
struct AggregationPlace {
  struct Peer {
    HostId host = -1;
    int16_t nic = 0;
    uint32_t connection = 0;  // of the plan, by which that host knows the reduction
    PieceSet takes;           // of a child: the sums that go down to it
  };
  HostId node = -1;
  Peer parent;  // host -1: this node is the root; takes: the sums that come down from it
  std::vector<Peer> children;
  uint32_t flow = 0;
  int64_t pieces = 0;
};

class Aggregation {
 public:
  Aggregation() = default;  // no call reduces in the network

  // `topology` outlives this.
  explicit Aggregation(const Topology& topology);

  // Adds the reductions of a group's call. `members` are the hosts of its members. Returns an error
  // if the fabric does not reduce, or has no switch that all members reach.
  Status Add(uint64_t call, const Plan& plan, uint32_t group, const std::vector<int>& members);

  bool empty() const { return switches_.empty(); }
  // Returns the workload's topology with the nodes as additional hosts without GPUs.
  Topology WithNodes() const;
  int node_count() const { return static_cast<int>(switches_.size()); }
  // Returns the node to which the NIC of a contributing member sends.
  HostId Above(int host, int nic) const;
  // `connection` is any connection of the reduction.
  const AggregationPlace& PlaceOf(HostId node, uint64_t call, uint32_t connection) const;

 private:
  struct Reduction {
    std::vector<AggregationPlace> places;  // by node of its tree
  };
  struct GroupReductions {
    std::vector<Reduction> reductions;
    std::vector<int16_t> of_connection;  // reduction of each connection of the plan; -1: none
  };
  HostId NodeAt(int switch_index);
  std::vector<AggregationPlace> PlacesOn(const AggregationTree& tree,
                                         const PlanReduction& reduction,
                                         const std::vector<NicPlace>& nics, uint32_t name,
                                         uint32_t flow);
  Result<const AggregationTree*> TreeFor(const std::vector<NicPlace>& nics);
  Result<GroupReductions> Resolve(const Plan& plan, uint32_t group,
                                  const std::vector<int>& members);

  const Topology* topology_ = nullptr;
  std::unique_ptr<SwitchGraph> graph_;
  std::vector<int> switches_;  // by node
  std::map<int, HostId> node_of_switch_;
  std::map<std::vector<NicPlace>, AggregationTree> trees_;
  std::map<std::pair<const Plan*, uint32_t>, std::unique_ptr<GroupReductions>> groups_;
  std::map<uint64_t, const GroupReductions*> calls_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_H_
