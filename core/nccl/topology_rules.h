// What may stand in an NCCL topology XML: which element in which, with which attributes and values
// (NCCL 2.29.7, src/graph/xml.cc and topo.cc). NCCL itself takes most of it on trust.
#ifndef DRYDOCK_CORE_NCCL_TOPOLOGY_RULES_H_
#define DRYDOCK_CORE_NCCL_TOPOLOGY_RULES_H_

#include <string>

#include "core/base/result.h"
#include "core/nccl/xml_reader.h"

namespace drydock {

// NCCL reads at most 256 elements of a host, and may add two of its own (a NIC without a place).
inline constexpr int kMostTopologyElements = 254;

// Everything that is wrong with each element by itself, at its place in `text`: names, nesting,
// attributes unknown, missing or of the wrong form, too many elements.
Status CheckElements(const XmlElement& system, const std::string& text);

// The checked XML as NCCL is given it: what NCCL knows and nothing else, bus ids in small letters,
// without what a dump says of the process that made it (host hash, ranks). A processor always has
// a vendor, a family and a model, for NCCL would take those of the machine it runs on.
std::string WriteTopology(const XmlElement& system);

// "0000:1B:00.0" as NCCL spells it; "" if it is no bus id.
std::string NormalBusId(const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_RULES_H_
