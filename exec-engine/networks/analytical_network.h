// The analytical network: a message occupies its NIC at the sender for its bytes and headers at
// line rate, travels the path's latency, occupies the NIC at the receiver, and is acknowledged one
// path latency later. Switches have no queues: only NICs are contended for. What a real fabric adds
// is the packet network's subject.
//
//   sender's NIC  ├ latency ┤├ size / rate ┤
//   fabric                    ├ cables, switches, one packet stored per switch ┤
//   receiver's NIC                          ├ size / bottleneck, in order of arrival ┤├ latency ┤
//
// Single-threaded; keeps network.h's order of callbacks.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_ANALYTICAL_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_ANALYTICAL_NETWORK_H_

#include <memory>

#include "core/base/result.h"
#include "exec-engine/network/network.h"

namespace drydock {

// `topology` outlives the network. Never fails; Run does if an actor sends between NICs that cannot
// reach one another.
Result<std::unique_ptr<Network>> MakeAnalyticalNetwork(const Topology& topology,
                                                       const NetworkOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_ANALYTICAL_NETWORK_H_
