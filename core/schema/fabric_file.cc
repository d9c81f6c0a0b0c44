#include "core/schema/fabric_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace drydock {
namespace {

// A layer of equal switches, as `leaf:`, `spine:` or `switch:` gives it.
struct Layer {
  int ports = 0;
  Bandwidth rate;
  double cable_metres = 0;
  Time latency;
  Bytes buffer;
  double oversubscription = 1;  // of the layer below, towards this one
};

struct FabricContext {
  YamlReader* reader;
  Diagnostics* diagnostics;
  Topology* topology;
  Time per_metre;  // signal propagation
};

bool ReadLayer(FabricContext* context, const std::string& key, Layer* layer) {
  const YamlNode* node = context->reader->Take(key, true);
  if (node == nullptr) return false;
  YamlReader reader(*node, key, context->diagnostics);
  reader.Read("ports", &layer->ports);
  reader.CheckRange("ports", layer->ports, 1, 4096);
  reader.Read("rate", &layer->rate);
  if (layer->rate.bits_per_second() == 0 && reader.Has("rate")) reader.Fail("rate", "'rate' is 0");
  std::string cable;
  reader.Read("cable", &cable);
  if (!cable.empty()) {
    const Result<double> metres = ParseMetres(cable);
    if (metres.ok()) layer->cable_metres = *metres;
    else reader.Fail("cable", metres.error().message());
  }
  reader.Read("latency", &layer->latency);
  reader.Read("buffer", &layer->buffer);
  reader.ReadOptional("oversubscription", &layer->oversubscription);
  if (layer->oversubscription <= 0) reader.Fail("oversubscription", "must be more than 0");
  reader.Finish();
  return layer->ports > 0 && layer->rate.bits_per_second() > 0;
}

Time CableDelay(const FabricContext& context, const Layer& layer) {
  return Time::Ps(static_cast<int64_t>(
      layer.cable_metres * static_cast<double>(context.per_metre.ps()) + 0.5));
}

int AddSwitch(FabricContext* context, std::string name, int tier, const Layer& layer) {
  Fabric& fabric = context->topology->fabric;
  fabric.switches.push_back({std::move(name), tier, layer.latency, layer.buffer});
  return static_cast<int>(fabric.switches.size()) - 1;
}

void ConnectNic(FabricContext* context, int host, int nic, int leaf, const Layer& layer) {
  const Bandwidth nic_rate = context->topology->kind_of_host(host).nics.rate;
  context->topology->fabric.links.push_back({{false, host, nic},
                                             {true, leaf, 0},
                                             std::min(nic_rate, layer.rate),
                                             CableDelay(*context, layer)});
}

// Joins leaves by as few spines as have the ports, cables spread evenly.
void ConnectSpines(FabricContext* context, const std::vector<int>& leaves, int uplinks,
                   const Layer& leaf, const Layer& spine) {
  const int total = uplinks * static_cast<int>(leaves.size());
  int spines = (total + spine.ports - 1) / spine.ports;
  while (spines < uplinks && uplinks % spines != 0) ++spines;  // equal cables to each spine
  if (static_cast<int>(leaves.size()) > spine.ports) {
    context->reader->Fail(
        "spine", fmt::format("a spine of {} ports cannot reach {} leaf switches; two tiers are "
                             "too few for this many hosts",
                             spine.ports, leaves.size()));
    return;
  }
  const int first = static_cast<int>(context->topology->fabric.switches.size());
  for (int s = 0; s < spines; ++s) AddSwitch(context, fmt::format("spine{}", s), 1, spine);
  for (const int from : leaves) {
    for (int cable = 0; cable < uplinks; ++cable) {
      context->topology->fabric.links.push_back({{true, from, 0},
                                                 {true, first + cable % spines, 0},
                                                 std::min(leaf.rate, spine.rate),
                                                 CableDelay(*context, spine)});
    }
  }
}

// How a leaf's ports divide: all down if one leaf suffices, else by oversubscription.
struct PortSplit {
  int down = 0;
  int up = 0;
};

PortSplit SplitPorts(int ports, int needed, double oversubscription) {
  if (needed <= ports) return {ports, 0};
  const int down = std::clamp(
      static_cast<int>(static_cast<double>(ports) * oversubscription / (1 + oversubscription)), 1,
      ports - 1);
  return {down, ports - down};
}

void MakeRailOptimised(FabricContext* context) {
  Layer leaf, spine;
  const bool has_leaf = ReadLayer(context, "leaf", &leaf);
  const bool has_spine = context->reader->Has("spine") && ReadLayer(context, "spine", &spine);
  if (!has_leaf) return;
  const Topology& topology = *context->topology;
  const int rails = topology.kind_of_host(0).nics.count;
  const PortSplit ports =
      SplitPorts(leaf.ports, topology.host_count(), has_spine ? spine.oversubscription : 1);
  if (ports.up > 0 && !has_spine) {
    context->reader->Fail("leaf", fmt::format("{} hosts do not fit on a leaf of {} ports, and "
                                              "there is no 'spine' to join several",
                                              topology.host_count(), leaf.ports));
    return;
  }
  std::vector<int> leaves;
  for (int rail = 0; rail < rails; ++rail) {
    for (int host = 0; host < topology.host_count(); ++host) {
      if (host % ports.down == 0) {
        leaves.push_back(AddSwitch(
            context, fmt::format("leaf{}.rail{}", host / ports.down, rail), 0, leaf));
      }
      ConnectNic(context, host, rail, leaves.back(), leaf);
    }
  }
  // Rails of one leaf each still meet at the spines, where there are any.
  if (has_spine && leaves.size() > 1) {
    const int uplinks = ports.up > 0 ? ports.up : std::max(1, topology.host_count());
    ConnectSpines(context, leaves, uplinks, leaf, spine);
  }
}

void MakeLeafSpine(FabricContext* context) {
  Layer leaf, spine;
  const bool has_leaf = ReadLayer(context, "leaf", &leaf);
  const bool has_spine = context->reader->Has("spine") && ReadLayer(context, "spine", &spine);
  if (!has_leaf) return;
  const Topology& topology = *context->topology;
  const int nics = topology.kind_of_host(0).nics.count;
  const int needed = topology.host_count() * nics;
  const PortSplit ports =
      SplitPorts(leaf.ports, needed, has_spine ? spine.oversubscription : 1);
  const int hosts_per_leaf = nics == 0 ? 0 : ports.down / nics;
  if (hosts_per_leaf == 0 || (ports.up > 0 && !has_spine)) {
    context->reader->Fail("leaf", fmt::format("{} NICs do not fit on a leaf of {} ports{}", needed,
                                              leaf.ports,
                                              has_spine ? "" : ", and there is no 'spine'"));
    return;
  }
  std::vector<int> leaves;
  for (int host = 0; host < topology.host_count(); ++host) {
    if (host % hosts_per_leaf == 0) {
      leaves.push_back(AddSwitch(context, fmt::format("leaf{}", leaves.size()), 0, leaf));
    }
    for (int nic = 0; nic < nics; ++nic) ConnectNic(context, host, nic, leaves.back(), leaf);
  }
  if (leaves.size() > 1) ConnectSpines(context, leaves, ports.up, leaf, spine);
}

void MakeSingleSwitch(FabricContext* context) {
  Layer layer;
  if (!ReadLayer(context, "switch", &layer)) return;
  int needed = 0;
  const int only = AddSwitch(context, "switch", 0, layer);
  for (int host = 0; host < context->topology->host_count(); ++host) {
    for (int nic = 0; nic < context->topology->kind_of_host(host).nics.count; ++nic, ++needed) {
      ConnectNic(context, host, nic, only, layer);
    }
  }
  if (needed > layer.ports) {
    context->reader->Fail("switch",
                          fmt::format("{} NICs do not fit on {} ports", needed, layer.ports));
  }
}

// "host3/nic0" or a switch's name.
Result<LinkEnd> ParseEnd(const YamlNode& node, const Topology& topology,
                         const std::map<std::string, int>& switches) {
  int host = 0, nic = 0, used = 0;
  if (std::sscanf(node.scalar.c_str(), "host%d/nic%d%n", &host, &nic, &used) == 2 &&
      used == static_cast<int>(node.scalar.size())) {
    if (host < 0 || host >= topology.host_count()) {
      return node.ErrorHere(fmt::format("there is no host {}; the cluster has {}", host,
                                        topology.host_count()));
    }
    if (nic < 0 || nic >= topology.kind_of_host(host).nics.count) {
      return node.ErrorHere(fmt::format("host {} has no NIC {}; it has {}", host, nic,
                                        topology.kind_of_host(host).nics.count));
    }
    return LinkEnd{false, host, nic};
  }
  const auto found = switches.find(node.scalar);
  if (found != switches.end()) return LinkEnd{true, found->second, 0};
  return node.ErrorHere(fmt::format(
      "'{}' is neither a NIC ('host0/nic0') nor one of the switches", node.scalar));
}

void ReadExplicitLink(FabricContext* context, const YamlNode& item,
                      const std::map<std::string, int>& switches) {
  YamlReader reader(item, "link", context->diagnostics);
  FabricLink link;
  const YamlNode* from = reader.Take("from", true);
  const YamlNode* to = reader.Take("to", true);
  reader.Read("rate", &link.rate);
  if (link.rate.bits_per_second() == 0 && reader.Has("rate")) reader.Fail("rate", "'rate' is 0");
  reader.Read("delay", &link.delay);
  if (link.delay.ps() == 0 && reader.Has("delay")) reader.Fail("delay", "'delay' is 0");
  reader.Finish();
  if (from == nullptr || to == nullptr) return;
  for (const auto& [node, end] : {std::pair(from, &link.a), std::pair(to, &link.b)}) {
    const Result<LinkEnd> parsed = ParseEnd(*node, *context->topology, switches);
    if (parsed.ok()) *end = *parsed;
    else context->diagnostics->Add(parsed.error());
  }
  context->topology->fabric.links.push_back(link);
}

void MakeExplicit(FabricContext* context) {
  std::map<std::string, int> switches;
  if (const YamlNode* list = context->reader->Take("switches", true)) {
    for (const YamlNode& item : list->items) {
      YamlReader reader(item, "switch", context->diagnostics);
      FabricSwitch made;
      reader.Read("name", &made.name);
      reader.Read("latency", &made.latency);
      reader.Read("buffer", &made.buffer);
      reader.ReadOptional("tier", &made.tier);
      reader.Finish();
      if (switches.contains(made.name)) reader.Fail("name", "this name is already taken");
      switches[made.name] = static_cast<int>(context->topology->fabric.switches.size());
      context->topology->fabric.switches.push_back(made);
    }
  }
  if (const YamlNode* list = context->reader->Take("links", true)) {
    for (const YamlNode& item : list->items) ReadExplicitLink(context, item, switches);
  }
}

void MakeNone(FabricContext* context) {
  if (context->topology->host_count() > 1) {
    context->reader->Fail("kind", fmt::format("'none' joins no hosts, but the cluster has {}",
                                              context->topology->host_count()));
  }
}

struct Generator {
  const char* name;
  void (*make)(FabricContext*);
};
constexpr Generator kGenerators[] = {{"rail-optimised", MakeRailOptimised},
                                     {"leaf-spine", MakeLeafSpine},
                                     {"single-switch", MakeSingleSwitch},
                                     {"explicit", MakeExplicit},
                                     {"none", MakeNone}};

}  // namespace

const std::vector<std::string>& FabricKinds() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Generator& generator : kGenerators) list.emplace_back(generator.name);
    return list;
  }();
  return names;
}

void ReadFabric(const YamlNode& node, Topology* topology, Diagnostics* diagnostics) {
  YamlReader reader(node, "fabric", diagnostics);
  int kind = -1;
  reader.ReadChoice("kind", FabricKinds(), &kind, true);
  FabricContext context{&reader, diagnostics, topology, Time::Ns(5)};
  // Signals travel at two thirds of c in fibre and copper: 5 ns a metre.
  reader.ReadOptional("delay_per_metre", &context.per_metre);
  if (kind < 0) return;
  topology->fabric.kind = kGenerators[kind].name;
  kGenerators[kind].make(&context);
  reader.Finish();
}

}  // namespace drydock
