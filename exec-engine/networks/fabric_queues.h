// The cables between switches in the analytical network: each passes one message after another.
//
// With ECMP, queue pairs are hashed onto equally short paths, and some cables get more of them than
// others. The paths are those of the packet and the fluid network (FabricMap). A message occupies
// all cables of its path at once, from the moment when its first packet has arrived. That is exact
// for the fullest cable of a path if the others have room, and needs no event of its own.
//
// Where packets spread over equal paths, a message occupies each cable for its share of the bytes.
// Only a tier with less capacity above than below can fill up then; the other cables are left out.
//
// In a folded replay, a connection occupies the cables of all connections that it represents.
//
// Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FABRIC_QUEUES_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FABRIC_QUEUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/fabric/connection_shape.h"
#include "core/model/fabric/fabric_map.h"
#include "core/model/fabric/spread_paths.h"
#include "core/model/topology.h"
#include "core/network/message.h"
#include "core/network/relative_state.h"
#include "exec-engine/folding/replica_map.h"

namespace drydock {

class FabricQueues {
 public:
  // `replicas` is null in a whole replay. Both outlive this.
  FabricQueues(const Topology& topology, const ConnectionShape& shape, const ReplicaMap* replicas)
      : topology_(topology), shape_(shape), replicas_(replicas), spreads_(Spreads(topology)) {}

  // Returns whether a cable between two switches can be full.
  static bool Applies(const Topology& topology);
  // Messages of a connection go over several queue pairs in turn.
  bool TakesTurns() const { return shape_.queue_pairs > 1; }

  // Returns when the last byte of the message has passed all cables, if its first packet arrives
  // now. `connection` numbers the pairs of NICs and flows from 0, in any order; all messages of a
  // connection have the same ends. `folded`: number of the folded connection, or kNotFolded.
  Time Pass(uint32_t connection, const Message& message, uint32_t folded, Time now);

  void AppendState(RelativeState* out) const;

 private:
  // A cable that a queue pair crosses, and with how many of its bits: kWhole for each of the queue
  // pairs that it represents which takes this cable alone.
  static constexpr int64_t kWhole = 1 << 20;
  struct Use {
    uint32_t cable = 0;  // into free_
    int64_t share = 0;
  };
  // Its queue pair i is number first + i of all. The uses of queue pair q are
  // uses_[ends_[q] .. ends_[q + 1]).
  struct Connection {
    bool known = false;
    uint32_t sent = 0;   // messages, modulo the queue pairs
    Time passed;         // of the last message: messages arrive in order
    uint32_t first = 0;  // its first queue pair
  };

  void Add(Connection* connection, const Message& message, uint32_t folded);
  void AddPath(const FlowEnds& ends, std::vector<Use>* uses);
  Time PassPart(uint32_t queue_pair, int64_t bytes, Time now);
  Time Serialization(int64_t bytes, Bandwidth rate) const;
  uint32_t CableOf(uint32_t link);

  const Topology& topology_;
  const ConnectionShape shape_;
  const ReplicaMap* const replicas_;
  const bool spreads_;
  std::optional<FabricMap> map_;  // made for the first message
  std::vector<bool> narrow_;      // by link; empty unless packets spread
  std::vector<uint32_t> cable_of_link_;
  std::vector<Bandwidth> rates_;  // by cable
  std::vector<Time> free_;        // by cable
  std::vector<Connection> connections_;
  std::vector<uint32_t> ends_;  // by queue pair, into uses_; one more behind each connection
  std::vector<Use> uses_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FABRIC_QUEUES_H_
