// A network as the replay uses it: how to make one, and what it can do for a replay.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_NETWORK_MODEL_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_NETWORK_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/network/network.h"
#include "exec-engine/folding/folded_network.h"
#include "exec-engine/folding/replica_map.h"
#include "exec-engine/transfer/merged_loops.h"

namespace drydock {

struct NetworkModel {
  std::string name;
  // The topology outlives the network.
  Result<std::unique_ptr<Network>> (*make)(const Topology&, const NetworkOptions&) = nullptr;
  // Makes a network for a folded replay; the map outlives it. Null if the network does not support
  // folding.
  Result<std::unique_ptr<FoldedNetwork>> (*make_folded)(const Topology&, const NetworkOptions&,
                                                        const ReplicaMap&) = nullptr;
  // An exactly folded replay over this network takes the times of the whole replay.
  bool folds_exactly = false;
  // If the network carries a message as a stream of bytes, the replay may merge the iterations of
  // loops in plans (merged_loops.h).
  Merging merging = Merging::kNone;
  // What the network reads of a cluster file in addition to rates and latencies. All transport
  // settings, because it sends packets through the queues of switches; it can capture frames.
  bool sends_packets = false;
  // Whether the network reads the queue pairs of NCCL's settings on this cluster. Null: always.
  bool (*reads_queue_pairs)(const Topology&) = nullptr;
  // Names in `transport.attributes`. Null: all if it sends packets, else none.
  const std::vector<std::string>& (*attributes)() = nullptr;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_NETWORK_MODEL_H_
