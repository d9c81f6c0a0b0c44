// The seam between a folded replay and a network that carries one. It extends the network seam:
// only representatives have actors, and a message of a representative can travel on a folded
// connection, which represents the connections of all replicas (replica_map.h).
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_FOLDED_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_FOLDED_NETWORK_H_

#include <cstdint>

#include "core/network/network.h"

namespace drydock {

class FoldedPort : public HostPort {
 public:
  // Sends on a folded connection of this host: the message arrives at the representative of its
  // destination, as ReplicaMap::AtReceiver. So a representative may send from a NIC to itself.
  // Otherwise the contract is that of Send.
  virtual void SendFolded(const Message& message, uint32_t folded_connection) = 0;
};

class FoldedNetwork : public Network {
 public:
  FoldedPort* port(HostId host) override = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_FOLDED_NETWORK_H_
