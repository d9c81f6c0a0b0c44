#include "core/schema/cluster/fabric_file.h"

#include <fmt/format.h>

#include "core/schema/cluster/fabric_builder.h"
#include "core/schema/cluster/limits.h"

namespace drydock {
namespace {

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
  CheckLatency("latency", sharp.latency, &reader);
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
                                     {"fat-tree", MakeFatTree},
                                     {"single-switch", MakeSingleSwitch},
                                     {"dragonfly", MakeDragonfly},
                                     {"torus", MakeTorus},
                                     {"simai", MakeSimai},
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

void ReadFabric(const YamlNode& node, const FileFetcher& fetch, Topology* topology,
                Diagnostics* diagnostics) {
  YamlReader reader(node, "fabric", diagnostics);
  int kind = -1;
  reader.ReadChoice("kind", FabricKinds(), &kind, true);
  FabricContext context{&reader, diagnostics, topology, Time::Ns(5), fetch};
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
