// An end of a cable as cluster files write it: "host3/nic0", or the name of a switch.
#ifndef DRYDOCK_CORE_SCHEMA_FABRIC_LINK_END_H_
#define DRYDOCK_CORE_SCHEMA_FABRIC_LINK_END_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// `switches` holds the names of all switches, in order. The error is at the node.
Result<LinkEnd> ParseLinkEnd(const YamlNode& node, const Topology& topology,
                             const std::vector<std::string>& switches);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FABRIC_LINK_END_H_
