// Fabrics in tiers: leaf switches next to the hosts, spines that join leaves, and cores that join
// pods of leaves and spines. Rail-optimised fabrics have leaves for each rail; in leaf-spine
// fabrics a leaf takes all NICs of a host.
#include <fmt/format.h>

#include <algorithm>

#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"

namespace drydock {
namespace {

// The layers of a fabric. Spine and core are optional.
struct Tiers {
  Layer leaf, spine, core;
  bool has_spine = false;
  bool has_core = false;
};

// Returns false, and reports, if a layer cannot be built.
bool ReadTiers(FabricContext* context, Tiers* tiers) {
  const bool leaf = ReadLayer(context, "leaf", LayerRole::kBottom, &tiers->leaf);
  tiers->has_spine = context->reader->Has("spine");
  tiers->has_core = context->reader->Has("core");
  const bool spine = ReadLayer(context, "spine", LayerRole::kUpper, &tiers->spine);
  const bool core = ReadLayer(context, "core", LayerRole::kUpper, &tiers->core);
  if (tiers->has_core && !tiers->has_spine) {
    context->reader->Fail("core", "a 'core' joins spines, but there is no 'spine'");
    return false;
  }
  return leaf && spine == tiers->has_spine && core == tiers->has_core;
}

// One of several equal and separate fabrics. Each NIC has a cable to each plane.
struct Plane {
  int number = 0;
  int planes = 1;
  Bandwidth nic_rate;  // of one cable

  std::string Name(std::string name) const {
    return planes == 1 ? name : fmt::format("{}.plane{}", name, number);
  }
};

// A leaf switch's ports: NICs below, cables to the spines above.
struct LeafPorts {
  int down = 0;
  int up = 0;
};

// Returns the largest number of cables of rate `below` that a switch can take together with the
// uplinks they need; 0 if there is no room.
int MaxDown(Bandwidth below, const Layer& layer, const Layer& above) {
  int down = layer.ports - 1;
  while (down > 0 && down + UplinksFor(down, below, layer, above) > layer.ports) --down;
  return down;
}

// Joins leaves by the smallest number of spines, with the same number of cables between each leaf
// and each spine: ports.up cables at a leaf, or more if that makes the numbers even and the leaf
// has free ports.
void ConnectSpines(FabricContext* context, const std::vector<int>& leaves, LeafPorts ports,
                   const Tiers& tiers, const Plane& plane) {
  const Layer& leaf = tiers.leaf;
  const Layer& spine = tiers.spine;
  if (leaves.size() > static_cast<size_t>(spine.ports)) {
    context->reader->Fail(
        "spine", fmt::format("a spine of {} ports cannot reach {} leaf switches; two tiers are "
                             "too few for this many hosts",
                             spine.ports, leaves.size()));
    return;
  }
  const int leaf_count = static_cast<int>(leaves.size());
  int spines = 0, cables = 0;
  do {  // ends with ports.up spines of one cable each, or earlier
    ++spines;
    cables = (ports.up + spines - 1) / spines;
  } while (leaf_count * cables > spine.ports || ports.down + cables * spines > leaf.ports);
  const int first = static_cast<int>(context->topology->fabric.switches.size());
  for (int s = 0; s < spines; ++s) {
    AddSwitch(context, plane.Name(fmt::format("spine{}", s)), 1, spine);
  }
  for (const int from : leaves) {
    for (int cable = 0; cable < cables * spines; ++cable) {
      ConnectSwitches(context, from, first + cable % spines, std::min(leaf.rate, spine.rate),
                      CableDelay(*context, spine));
    }
  }
}

// Pods of leaves and spines, with a cable between each leaf and each spine of a pod.
struct Pods {
  int leaves = 0;  // of one pod
  int pods = 0;
  int spines = 0;   // of one pod
  int uplinks = 0;  // of one spine
};

// Joins spine s of all pods by the smallest number of cores, for each s, as in a fat-tree.
void ConnectCores(FabricContext* context, const std::vector<std::vector<int>>& spines,
                  const Pods& pods, const Tiers& tiers, const Plane& plane) {
  int cores = 0, cables = 0;
  do {
    ++cores;
    cables = (pods.uplinks + cores - 1) / cores;
  } while (pods.pods * cables > tiers.core.ports ||
           pods.leaves + cables * cores > tiers.spine.ports);
  for (int s = 0; s < pods.spines; ++s) {
    const int first = static_cast<int>(context->topology->fabric.switches.size());
    for (int c = 0; c < cores; ++c) {
      AddSwitch(context, plane.Name(fmt::format("core{}.{}", s, c)), 2, tiers.core);
    }
    for (const std::vector<int>& pod : spines) {
      for (int cable = 0; cable < cables * cores; ++cable) {
        ConnectSwitches(context, pod[static_cast<size_t>(s)], first + cable % cores,
                        std::min(tiers.spine.rate, tiers.core.rate),
                        CableDelay(*context, tiers.core));
      }
    }
  }
}

// Joins leaves by pods and cores. `together` successive leaves belong to one group of hosts and go
// into one pod.
void ConnectThreeTiers(FabricContext* context, const std::vector<int>& leaves, int together,
                       LeafPorts ports, const Tiers& tiers, const Plane& plane) {
  const Bandwidth below = std::min(tiers.leaf.rate, tiers.spine.rate);
  Pods pods;
  pods.leaves = MaxDown(below, tiers.spine, tiers.core) / together * together;
  if (pods.leaves == 0) {
    return context->reader->Fail(
        "spine", fmt::format("a spine of {} ports has no room for the {} leaf switches of a pod "
                             "and their uplinks",
                             tiers.spine.ports, together));
  }
  const int count = static_cast<int>(leaves.size());
  pods.pods = (count + pods.leaves - 1) / pods.leaves;
  if (pods.pods == 1) return ConnectSpines(context, leaves, ports, tiers, plane);
  if (pods.pods > tiers.core.ports) {
    return context->reader->Fail("core", fmt::format("a core of {} ports cannot reach {} pods",
                                                     tiers.core.ports, pods.pods));
  }
  pods.spines = ports.up;
  pods.uplinks = UplinksFor(pods.leaves, below, tiers.spine, tiers.core);
  std::vector<std::vector<int>> spines(static_cast<size_t>(pods.pods));
  for (int pod = 0; pod < pods.pods; ++pod) {
    for (int s = 0; s < pods.spines; ++s) {
      spines[static_cast<size_t>(pod)].push_back(
          AddSwitch(context, plane.Name(fmt::format("pod{}.spine{}", pod, s)), 1, tiers.spine));
    }
  }
  for (int i = 0; i < count; ++i) {
    for (const int spine : spines[static_cast<size_t>(i / pods.leaves)]) {
      ConnectSwitches(context, leaves[static_cast<size_t>(i)], spine, below,
                      CableDelay(*context, tiers.spine));
    }
  }
  ConnectCores(context, spines, pods, tiers, plane);
}

void ConnectUpwards(FabricContext* context, const std::vector<int>& leaves, int together,
                    LeafPorts ports, const Tiers& tiers, const Plane& plane) {
  if (tiers.has_core) {
    ConnectThreeTiers(context, leaves, together, ports, tiers, plane);
  } else {
    ConnectSpines(context, leaves, ports, tiers, plane);
  }
}

// Returns false, and reports, if the NICs and uplinks of a leaf exceed its ports.
bool FitRails(FabricContext* context, const Tiers& tiers, const Plane& plane, LeafPorts* ports) {
  const Topology& topology = *context->topology;
  const int hosts = topology.host_count();
  *ports = {hosts, 0};
  // Spines, if there are any, join rails even if each rail has a single leaf.
  if (tiers.has_spine && (topology.kind_of_host(0).nics.count > 1 || hosts > tiers.leaf.ports)) {
    ports->down = std::min(hosts, MaxDown(plane.nic_rate, tiers.leaf, tiers.spine));
    ports->up = UplinksFor(ports->down, plane.nic_rate, tiers.leaf, tiers.spine);
  }
  if (ports->down == 0) {
    context->reader->Fail("leaf", fmt::format("a leaf of {} ports has no room for a NIC and its "
                                              "uplinks",
                                              tiers.leaf.ports));
  } else if (ports->up == 0 && hosts > tiers.leaf.ports) {
    context->reader->Fail("leaf", fmt::format("{} hosts do not fit on a leaf of {} ports, and "
                                              "there is no 'spine' to join several",
                                              hosts, tiers.leaf.ports));
  } else {
    return true;
  }
  return false;
}

void MakeRails(FabricContext* context, const Tiers& tiers, const Plane& plane) {
  LeafPorts ports;
  if (!FitRails(context, tiers, plane, &ports)) return;
  const int hosts = context->topology->host_count();
  const int rails = context->topology->kind_of_host(0).nics.count;
  std::vector<int> leaves;
  for (int rail = 0; rail < rails; ++rail) {
    for (int host = 0; host < hosts; ++host) {
      if (host % ports.down == 0) {
        leaves.push_back(
            AddSwitch(context, plane.Name(fmt::format("leaf{}.rail{}", host / ports.down, rail)), 0,
                      tiers.leaf));
      }
      ConnectNic(context, host, rail, plane.nic_rate, leaves.back(), tiers.leaf);
    }
  }
  if (ports.up == 0) return;
  // A pod holds the leaves of all rails of a group of hosts.
  const size_t groups = leaves.size() / static_cast<size_t>(rails);
  std::vector<int> by_group;
  for (size_t group = 0; group < groups; ++group) {
    for (size_t rail = 0; rail < static_cast<size_t>(rails); ++rail) {
      by_group.push_back(leaves[rail * groups + group]);
    }
  }
  ConnectUpwards(context, tiers.has_core ? by_group : leaves, rails, ports, tiers, plane);
}

void MakeLeaves(FabricContext* context, const Tiers& tiers, const Plane& plane) {
  const Topology& topology = *context->topology;
  const int hosts = topology.host_count();
  const int nics = topology.kind_of_host(0).nics.count;
  const int64_t needed = int64_t{hosts} * nics;
  const bool one_leaf = needed <= tiers.leaf.ports;
  if (!one_leaf && !tiers.has_spine) {
    context->reader->Fail("leaf", fmt::format("{} NICs do not fit on a leaf of {} ports, and there "
                                              "is no 'spine' to join several",
                                              needed, tiers.leaf.ports));
    return;
  }
  const int hosts_per_leaf =
      one_leaf ? hosts : MaxDown(plane.nic_rate, tiers.leaf, tiers.spine) / nics;
  if (hosts_per_leaf == 0) {
    context->reader->Fail("leaf", fmt::format("a leaf of {} ports has no room for a host's {} NICs "
                                              "and their uplinks",
                                              tiers.leaf.ports, nics));
    return;
  }
  std::vector<int> leaves;
  for (int host = 0; host < hosts; ++host) {
    if (host % hosts_per_leaf == 0) {
      leaves.push_back(
          AddSwitch(context, plane.Name(fmt::format("leaf{}", leaves.size())), 0, tiers.leaf));
    }
    for (int nic = 0; nic < nics; ++nic) {
      ConnectNic(context, host, nic, plane.nic_rate, leaves.back(), tiers.leaf);
    }
  }
  if (one_leaf) return;
  const int down = hosts_per_leaf * nics;
  const LeafPorts ports{down, UplinksFor(down, plane.nic_rate, tiers.leaf, tiers.spine)};
  ConnectUpwards(context, leaves, 1, ports, tiers, plane);
}

// Reads the tiers and makes each plane.
void MakePlanes(FabricContext* context, void (*make)(FabricContext*, const Tiers&, const Plane&)) {
  Tiers tiers;
  Plane plane;
  context->reader->ReadOptional("planes", &plane.planes);
  context->reader->CheckRange("planes", plane.planes, 1, 8);
  if (!ReadTiers(context, &tiers) || plane.planes < 1 || plane.planes > 8) return;
  const Nics& nics = context->topology->kind_of_host(0).nics;
  if (nics.count == 0) return;  // CheckConnected reports it
  plane.nic_rate = Bandwidth::BitsPerSecond(nics.rate.bits_per_second() / plane.planes);
  for (; plane.number < plane.planes; ++plane.number) make(context, tiers, plane);
}

}  // namespace

void MakeRailOptimised(FabricContext* context) { MakePlanes(context, MakeRails); }

void MakeLeafSpine(FabricContext* context) { MakePlanes(context, MakeLeaves); }

}  // namespace drydock
