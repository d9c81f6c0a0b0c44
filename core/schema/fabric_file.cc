#include "core/schema/fabric_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/scan.h"
#include "core/schema/limits.h"
#include "core/schema/link_end.h"

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

// A cable of this length, in picoseconds; any length.
double DelayPs(const FabricContext& context, double metres) {
  return metres * static_cast<double>(context.per_metre.ps());
}

Time CableDelay(const FabricContext& context, const Layer& layer) {
  return Time::Ps(std::llround(DelayPs(context, layer.cable_metres)));
}

void ReadCable(const FabricContext& context, YamlReader* reader, Layer* layer) {
  std::string cable;
  reader->Read("cable", &cable);
  if (cable.empty()) return;
  const Result<double> metres = ParseMetres(cable);
  if (!metres.ok()) return reader->Fail("cable", metres.error().message());
  const double delay = DelayPs(context, *metres);
  if (delay < 1 || delay > 1e12) {
    return reader->Fail("cable", fmt::format("a signal takes {:.3g} s over '{}'; it must take "
                                             "between 1 ps and 1 s",
                                             delay * 1e-12, cable));
  }
  layer->cable_metres = *metres;
}

enum class LayerRole { kBottom, kSpine };

// False if the layer cannot be built with.
bool ReadLayer(FabricContext* context, const std::string& key, LayerRole role, Layer* layer) {
  const YamlNode* node = context->reader->Take(key, role == LayerRole::kBottom);
  if (node == nullptr) return false;
  YamlReader reader(*node, key, context->diagnostics);
  reader.Read("ports", &layer->ports);
  reader.CheckRange("ports", layer->ports, 1, 4096);
  reader.Read("rate", &layer->rate);
  CheckRate("rate", layer->rate, &reader);
  ReadCable(*context, &reader, layer);
  reader.Read("latency", &layer->latency);
  reader.Read("buffer", &layer->buffer);
  if (role == LayerRole::kSpine) reader.ReadOptional("oversubscription", &layer->oversubscription);
  const bool sane = layer->oversubscription >= 0.01 && layer->oversubscription <= 100;
  if (!sane) {
    reader.Fail("oversubscription", fmt::format("'oversubscription' is {}; it must be between 0.01 "
                                                "and 100",
                                                layer->oversubscription));
  }
  reader.Finish();
  return sane && layer->ports >= 1 && layer->ports <= 4096 && layer->rate >= kLeastRate;
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

// A leaf switch's ports: NICs below, cables to the spines above.
struct LeafPorts {
  int down = 0;
  int up = 0;
};

// How many cables upwards carry the rate of `down` NICs, divided by the oversubscription.
int UplinksFor(int down, Bandwidth nic, const Layer& leaf, const Layer& spine) {
  const auto bits = [](Bandwidth rate) { return static_cast<double>(rate.bits_per_second()); };
  const double below = down * bits(std::min(nic, leaf.rate));
  const double cable = bits(std::min(leaf.rate, spine.rate));
  const double cables = std::ceil(below / (cable * spine.oversubscription) - 1e-9);
  return static_cast<int>(std::clamp(cables, 1.0, 1e6));
}

// The most NICs a leaf can take together with the uplinks they need; 0 if there is no room.
int MostNics(Bandwidth nic, const Layer& leaf, const Layer& spine) {
  int down = leaf.ports - 1;
  while (down > 0 && down + UplinksFor(down, nic, leaf, spine) > leaf.ports) --down;
  return down;
}

// Joins leaves by as few spines as do, with equally many cables between each leaf and each spine:
// ports.up of them at a leaf, or more where that makes the numbers even and ports are left.
void ConnectSpines(FabricContext* context, const std::vector<int>& leaves, LeafPorts ports,
                   const Layer& leaf, const Layer& spine) {
  if (leaves.size() > static_cast<size_t>(spine.ports)) {
    context->reader->Fail(
        "spine", fmt::format("a spine of {} ports cannot reach {} leaf switches; two tiers are "
                             "too few for this many hosts",
                             spine.ports, leaves.size()));
    return;
  }
  const int leaf_count = static_cast<int>(leaves.size());
  int spines = 0, cables = 0;
  do {  // ends at ports.up spines with one cable each, at the latest
    ++spines;
    cables = (ports.up + spines - 1) / spines;
  } while (leaf_count * cables > spine.ports || ports.down + cables * spines > leaf.ports);
  const int first = static_cast<int>(context->topology->fabric.switches.size());
  for (int s = 0; s < spines; ++s) AddSwitch(context, fmt::format("spine{}", s), 1, spine);
  for (const int from : leaves) {
    for (int cable = 0; cable < cables * spines; ++cable) {
      context->topology->fabric.links.push_back({{true, from, 0},
                                                 {true, first + cable % spines, 0},
                                                 std::min(leaf.rate, spine.rate),
                                                 CableDelay(*context, spine)});
    }
  }
}

// The layers of a two-tier fabric; `spine` may be left out.
struct Tiers {
  Layer leaf, spine;
  bool has_spine = false;
};

// False (and reported) unless what is there can be built with.
bool ReadTiers(FabricContext* context, Tiers* tiers) {
  const bool leaf = ReadLayer(context, "leaf", LayerRole::kBottom, &tiers->leaf);
  tiers->has_spine = context->reader->Has("spine");
  const bool spine = ReadLayer(context, "spine", LayerRole::kSpine, &tiers->spine);
  return leaf && spine == tiers->has_spine;
}

void MakeRailOptimised(FabricContext* context) {
  Tiers tiers;
  if (!ReadTiers(context, &tiers)) return;
  const Topology& topology = *context->topology;
  const int hosts = topology.host_count();
  const Nics& nics = topology.kind_of_host(0).nics;
  LeafPorts ports = {hosts, 0};
  // Rails of one leaf each still meet at the spines, where there are any.
  if (tiers.has_spine && (nics.count > 1 || hosts > tiers.leaf.ports)) {
    ports.down = std::min(hosts, MostNics(nics.rate, tiers.leaf, tiers.spine));
    ports.up = UplinksFor(ports.down, nics.rate, tiers.leaf, tiers.spine);
  }
  if (ports.down == 0) {
    context->reader->Fail("leaf", fmt::format("a leaf of {} ports has no room for a NIC and its "
                                              "uplinks",
                                              tiers.leaf.ports));
    return;
  }
  if (ports.up == 0 && hosts > tiers.leaf.ports) {
    context->reader->Fail("leaf", fmt::format("{} hosts do not fit on a leaf of {} ports, and "
                                              "there is no 'spine' to join several",
                                              hosts, tiers.leaf.ports));
    return;
  }
  std::vector<int> leaves;
  for (int rail = 0; rail < nics.count; ++rail) {
    for (int host = 0; host < hosts; ++host) {
      if (host % ports.down == 0) {
        leaves.push_back(AddSwitch(context, fmt::format("leaf{}.rail{}", host / ports.down, rail),
                                   0, tiers.leaf));
      }
      ConnectNic(context, host, rail, leaves.back(), tiers.leaf);
    }
  }
  if (ports.up > 0) ConnectSpines(context, leaves, ports, tiers.leaf, tiers.spine);
}

void MakeLeafSpine(FabricContext* context) {
  Tiers tiers;
  if (!ReadTiers(context, &tiers)) return;
  const Topology& topology = *context->topology;
  const int hosts = topology.host_count();
  const Nics& nics = topology.kind_of_host(0).nics;
  if (nics.count == 0) return;  // reported when the whole is checked
  const int64_t needed = int64_t{hosts} * nics.count;
  const bool one_leaf = needed <= tiers.leaf.ports;
  if (!one_leaf && !tiers.has_spine) {
    context->reader->Fail("leaf", fmt::format("{} NICs do not fit on a leaf of {} ports, and there "
                                              "is no 'spine' to join several",
                                              needed, tiers.leaf.ports));
    return;
  }
  const int hosts_per_leaf =
      one_leaf ? hosts : MostNics(nics.rate, tiers.leaf, tiers.spine) / nics.count;
  if (hosts_per_leaf == 0) {
    context->reader->Fail("leaf", fmt::format("a leaf of {} ports has no room for a host's {} NICs "
                                              "and their uplinks",
                                              tiers.leaf.ports, nics.count));
    return;
  }
  std::vector<int> leaves;
  for (int host = 0; host < hosts; ++host) {
    if (host % hosts_per_leaf == 0) {
      leaves.push_back(AddSwitch(context, fmt::format("leaf{}", leaves.size()), 0, tiers.leaf));
    }
    for (int nic = 0; nic < nics.count; ++nic) {
      ConnectNic(context, host, nic, leaves.back(), tiers.leaf);
    }
  }
  if (one_leaf) return;
  const int down = hosts_per_leaf * nics.count;
  ConnectSpines(context, leaves, {down, UplinksFor(down, nics.rate, tiers.leaf, tiers.spine)},
                tiers.leaf, tiers.spine);
}

void MakeSingleSwitch(FabricContext* context) {
  Layer layer;
  if (!ReadLayer(context, "switch", LayerRole::kBottom, &layer)) return;
  int64_t needed = 0;
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

using Names = std::vector<std::string>;  // of the switches, in their order

void ReadExplicitLink(FabricContext* context, const YamlNode& item, const Names& switches) {
  YamlReader reader(item, "link", context->diagnostics);
  FabricLink link;
  const YamlNode* from = reader.Take("from", true);
  const YamlNode* to = reader.Take("to", true);
  reader.Read("rate", &link.rate);
  CheckRate("rate", link.rate, &reader);
  reader.Read("delay", &link.delay);
  if (reader.Has("delay") && (link.delay == Time() || link.delay > Time::Us(1000000))) {
    reader.Fail("delay", fmt::format("'delay' is {}; it must be between 1 ps and 1 s",
                                     ToString(link.delay)));
  }
  reader.Finish();
  if (from == nullptr || to == nullptr) return;
  for (const auto& [node, end] : {std::pair(from, &link.a), std::pair(to, &link.b)}) {
    const Result<LinkEnd> parsed = ParseLinkEnd(*node, *context->topology, switches);
    if (!parsed.ok()) return context->diagnostics->Add(parsed.error());
    *end = *parsed;
  }
  if (link.a.is_switch && link.b.is_switch && link.a.index == link.b.index) {
    return reader.Fail("to", fmt::format("'{}' is joined to itself", to->scalar));
  }
  context->topology->fabric.links.push_back(link);
}

void ReadExplicitSwitch(FabricContext* context, const YamlNode& item, Names* switches) {
  YamlReader reader(item, "switch", context->diagnostics);
  FabricSwitch made;
  reader.Read("name", &made.name);
  reader.Read("latency", &made.latency);
  reader.Read("buffer", &made.buffer);
  reader.ReadOptional("tier", &made.tier);
  reader.CheckRange("tier", made.tier, 0, 16);
  reader.Finish();
  int host = 0, nic = 0;
  if (made.name.empty() || ScanNumbers(made.name, {"host", "/nic"}, {&host, &nic})) {
    reader.Fail("name", fmt::format("a switch cannot be called '{}'", made.name));
  } else if (std::find(switches->begin(), switches->end(), made.name) != switches->end()) {
    reader.Fail("name", fmt::format("there is another switch '{}'", made.name));
  }
  switches->push_back(made.name);
  context->topology->fabric.switches.push_back(made);
}

// The items of a required list.
const std::vector<YamlNode>& ReadList(FabricContext* context, const std::string& key) {
  static const std::vector<YamlNode> kNone;
  const YamlNode* list = context->reader->Take(key, true);
  if (list == nullptr) return kNone;
  if (list->kind != YamlNode::Kind::kList) {
    context->reader->Fail(key, fmt::format("'{}' must be a list", key));
  }
  return list->items;
}

void MakeExplicit(FabricContext* context) {
  Names switches;
  for (const YamlNode& item : ReadList(context, "switches")) {
    ReadExplicitSwitch(context, item, &switches);
  }
  for (const YamlNode& item : ReadList(context, "links")) ReadExplicitLink(context, item, switches);
}

void MakeNone(FabricContext* context) {
  if (context->topology->host_count() > 1) {
    context->reader->Fail("kind", fmt::format("'none' joins no hosts, but the cluster has {}",
                                              context->topology->host_count()));
  }
}

void ReadSharp(FabricContext* context) {
  const YamlNode* node = context->reader->Take("sharp", false);
  if (node == nullptr) return;
  YamlReader reader(*node, "sharp", context->diagnostics);
  Sharp sharp;
  reader.Read("latency", &sharp.latency);
  if (sharp.latency > Time::Us(1000000)) {
    reader.Fail("latency",
                fmt::format("'latency' is {}; it must be at most 1 s", ToString(sharp.latency)));
  }
  reader.Finish();
  if (context->topology->fabric.kind == "none") {
    context->reader->Fail("sharp", "'none' has no switches that could reduce");
  }
  if (context->topology->transport.kind != "infiniband") {
    context->reader->Fail("sharp", fmt::format("'sharp' is a service of InfiniBand switches, but "
                                               "the transport's kind is '{}'",
                                               context->topology->transport.kind));
  }
  context->topology->fabric.sharp = sharp;
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
  ReadSharp(&context);
  static const std::vector<std::string> kRoutings = {"ecmp", "flowlet", "adaptive", "spray"};
  int routing = 0;
  reader.ReadChoice("routing", kRoutings, &routing, false);
  topology->fabric.routing = kRoutings[static_cast<size_t>(routing)];
  reader.Finish();
}

}  // namespace drydock
