// The packet-level Network: every packet between hosts over every link and switch, by the ns-3
// module in this folder (docs/explanation/packet-network.md says what is modelled).
//
// ns-3 keeps one simulator a process, so at most one packet network is alive at a time; a second
// is a CHECK. The environment (NS_ATTRIBUTE_DEFAULT) is shut out.
#ifndef DRYDOCK_NS3_BACKEND_PACKET_NETWORK_H_
#define DRYDOCK_NS3_BACKEND_PACKET_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "exec-engine/network/network.h"

namespace drydock {

// Errors: a fabric that is disconnected or has a cable that cannot be, a transport that is not
// known, options.threads below 1. The result of a run does not depend on options.threads, nor on
// options.processes and options.partitioning, one of Partitionings().
//
// Counters, in this order: "messages", "packets", "acks" (frames sent by hosts), "packet hops"
// (frames times links), "queue pairs", "events", "windows", "max queue bytes" (waiting at one
// switch port), "max buffer bytes" (waiting in one switch), "frames over buffer" (that a switch of
// the given buffer would have had no room for). With congestion control: "marked frames",
// "congestion notifications"; with flow_control pfc: "pause frames" (that stop, or keep stopped),
// "dropped frames"; with none: "dropped frames", "negative acks", "repeated packets", "ack
// timeouts".
//
// Run fails if an actor sends between NICs that cannot reach one another, or if a queue pair gives
// up sending again.
Result<std::unique_ptr<Network>> MakePacketNetwork(const Topology& topology,
                                                   const NetworkOptions& options);

const std::vector<std::string>& Partitionings();

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_PACKET_NETWORK_H_
