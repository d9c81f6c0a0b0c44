// Which host represents which in a folded replay, and where the messages of representatives arrive.
// A network that carries a folded replay depends on this map only (folded_network.h).
// ReplicaFolding fills the map while the replay runs.
//
// Not thread-safe: for networks that run on one thread.
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_MAP_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/fabric/fabric_paths.h"
#include "core/network/flow_ends.h"
#include "core/network/message.h"

namespace drydock {

// One end of a connection of a representative. It represents the same end of the connections of all
// replicas. Folded connections are numbered from 1.
struct FoldedConnection {
  uint32_t group = 0, connection = 0;  // the connection, as the receiver names it
  HostId source = 0;                   // the sender, as the receiver names it
  FabricPath path;                     // switches < 0: the path between the NICs of the message
  int64_t replicas = 1;                // connections that it represents, itself included
  // Belongs to a call in which the representative does the work of every member that it represents.
  bool every_member = false;
};

inline constexpr uint32_t kNotFolded = 0;

class ReplicaMap {
 public:
  virtual ~ReplicaMap() = default;

  HostId RepresentativeOf(HostId host) const {
    return representative_of_[static_cast<size_t>(host)];
  }
  bool IsRepresentative(HostId host) const { return RepresentativeOf(host) == host; }
  // Returns the size of the host's equivalence class; 0 for a host that is not replayed.
  int64_t ReplicaCount(HostId host) const { return replica_count_[static_cast<size_t>(host)]; }

  const FoldedConnection& connection(uint32_t number) const { return connections_[number]; }

  // The following take the number of the folded connection that carries the message, or kNotFolded.
  HostId SourceAtReceiver(const Message& message, uint32_t number) const {
    return number == kNotFolded ? message.source : connections_[number].source;
  }
  // Returns how many messages of the whole replay the message represents.
  int64_t MessagesFor(const Message& message, uint32_t number) const {
    return number == kNotFolded ? ReplicaCount(message.source) : connections_[number].replicas;
  }
  // Returns the message as the representative of its destination receives it.
  Message AtReceiver(const Message& message, uint32_t number) const;

  // Returns the flows of all replicas of a folded connection, itself included. Empty if the
  // connection carries no data from this end, or every_member is set. Slow: call it once per
  // connection.
  virtual std::vector<FlowEnds> ReplicaFlows(uint32_t number) const = 0;

 protected:
  // Every host is represented by the first host of its class; `class_of_host` counts from 0.
  ReplicaMap(const std::vector<int>& class_of_host, int classes);
  uint32_t Add(const FoldedConnection& connection);

 private:
  std::vector<HostId> representative_of_;  // by host
  std::vector<int64_t> replica_count_;     // by host
  std::vector<FoldedConnection> connections_ = {FoldedConnection()};
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_REPLICA_MAP_H_
