// The `fabric:` section of cluster.topo: generators that turn a few numbers into switches and
// cables, and explicit links. One row per kind in FabricKinds().
//
//   rail-optimised  NIC i of every host goes to leaves of rail i; spines join leaves, cores pods
//   leaf-spine      all NICs of a host go to one leaf; likewise
//   fat-tree        k-ary, of equal switches
//   single-switch   every NIC on one switch
//   dragonfly       groups of switches that are all joined, and all groups joined
//   torus           switches in a grid of any dimensions, closed to rings or not
//   simai           a topology file of SimAI
//   explicit        switches and links as listed
//   none            one host, no fabric
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_FILE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// The text of a file that the section names; nothing (and reported at the node) if it cannot be
// had.
using FileFetcher =
    std::function<std::optional<std::string>(const std::string& name, const YamlNode& node)>;

// Fills topology->fabric; hosts, host kinds and transport must be there already.
void ReadFabric(const YamlNode& node, const FileFetcher& fetch, Topology* topology,
                Diagnostics* diagnostics);

const std::vector<std::string>& FabricKinds();

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_FILE_H_
