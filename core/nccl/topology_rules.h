// The rules of an NCCL topology XML: nesting of elements, attributes and values (NCCL 2.29.7,
// src/graph/xml.cc and topo.cc). NCCL itself checks little of this.
#ifndef DRYDOCK_CORE_NCCL_TOPOLOGY_RULES_H_
#define DRYDOCK_CORE_NCCL_TOPOLOGY_RULES_H_

#include <string>

#include "core/base/result.h"
#include "core/nccl/xml_reader.h"

namespace drydock {

// NCCL reads at most 256 elements of a host, and may add two of its own (a NIC without a place).
inline constexpr int kMaxTopologyElements = 254;

// Checks each element by itself. The error lists every mistake with its place in `text`: unknown
// names, wrong nesting, attributes that are unknown, missing or malformed, too many elements.
Status CheckElements(const XmlElement& system, const std::string& text);

// Returns the XML for NCCL: only what NCCL reads, with bus ids in lower case, and without the data
// of the process that made a dump (host hash, ranks). A processor always has a vendor, a family and
// a model, since NCCL would otherwise use those of the machine it runs on. REQUIRES: CheckElements
// is OK.
std::string WriteTopology(const XmlElement& system);

// Returns a bus id like "0000:1B:00.0" in NCCL's spelling, or "" if `text` is not a bus id.
std::string NormalBusId(const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_RULES_H_
