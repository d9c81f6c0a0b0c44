// The packet-level Network: the ns-3 module in this folder simulates every packet between hosts
// over every link and switch (docs/explanation/packet-network.md).
//
// ns-3 has one simulator per process, so at most one packet network may be alive at a time; a
// second one fails a CHECK. The environment variable NS_ATTRIBUTE_DEFAULT is ignored.
#ifndef DRYDOCK_NS3_BACKEND_PACKET_NETWORK_H_
#define DRYDOCK_NS3_BACKEND_PACKET_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/network/network.h"

namespace drydock {

// Returns an error for a fabric that is disconnected or has an invalid cable, for an unknown
// transport, and for options.threads below 1. The result of a run does not depend on
// options.threads, options.processes or options.partitioning (one of Partitionings()).
//
// Counters, in this order: "messages", "packets", "acks" (frames sent by hosts), "packet hops"
// (frames times links), "queue pairs", "events", "windows", "max queue bytes" (waiting at one
// switch port), "max buffer bytes" (waiting in one switch), "frames over buffer" (for which a
// switch of the stated buffer has no room). With congestion control: "marked frames", "congestion
// notifications". With flow_control pfc: "pause frames" (that begin or prolong a pause), "ns of
// paused links". With any flow_control except ideal: "dropped frames"; with trim: "trimmed frames".
// With faults: "frames lost to faults", "frames without a way" (no path is left). Where frames can
// be lost: "negative acks", "repeated packets", "ack timeouts".
//
// Run fails if an actor sends between NICs without a path, or if a queue pair gives up after its
// last retry.
Result<std::unique_ptr<Network>> MakePacketNetwork(const Topology& topology,
                                                   const NetworkOptions& options);

const std::vector<std::string>& Partitionings();

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_PACKET_NETWORK_H_
