#include "core/schema/fabric/link_end.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"
#include "core/base/spelling.h"

namespace drydock {

Result<LinkEnd> ParseLinkEnd(const YamlNode& node, const Topology& topology,
                             const std::vector<std::string>& switches) {
  int host = 0, nic = 0;
  if (ScanNumbers(node.scalar, {"host", "/nic"}, {&host, &nic})) {
    if (host >= topology.host_count()) {
      return node.ErrorHere(
          fmt::format("there is no host {}; the cluster has {}", host, topology.host_count()));
    }
    if (nic >= topology.kind_of_host(host).nics.count) {
      return node.ErrorHere(fmt::format("host {} has no NIC {}; it has {}", host, nic,
                                        topology.kind_of_host(host).nics.count));
    }
    return LinkEnd{false, host, nic};
  }
  const auto found = std::find(switches.begin(), switches.end(), node.scalar);
  if (node.kind == YamlNode::Kind::kScalar && found != switches.end()) {
    return LinkEnd{true, static_cast<int>(found - switches.begin()), 0};
  }
  return node.ErrorHere(
      fmt::format("'{}' is neither a NIC ('host0/nic0') nor one of the switches{}", node.scalar,
                  DidYouMean(node.scalar, switches)));
}

}  // namespace drydock
