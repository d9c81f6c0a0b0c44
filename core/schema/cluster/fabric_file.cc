#include "core/schema/cluster/fabric_file.h"

#include <fmt/format.h>

#include "core/schema/cluster/fabric_table.h"
#include "core/schema/cluster/read_enum.h"
#include "core/schema/fabric/limits.h"

namespace drydock {
namespace {

void ReadSharp(FabricContext* context) {
  const YamlNode* node = context->reader->Take("sharp", false);
  if (node == nullptr) return;
  // If the fabric is refused, its switches are not known.
  const bool made = context->diagnostics->ok();
  YamlReader reader(*node, "sharp", context->diagnostics);
  Sharp sharp;
  reader.Read("latency", &sharp.latency);
  CheckLatency("latency", sharp.latency, &reader);
  reader.Finish();
  const Topology& topology = *context->topology;
  if (made && topology.fabric.switches.empty()) {
    context->reader->Fail(
        "sharp", fmt::format("'{}' has no switches that could reduce", topology.fabric.kind));
  }
  if (topology.transport.kind != TransportKind::kInfiniBand) {
    context->reader->Fail("sharp", fmt::format("'sharp' is a service of InfiniBand switches, but "
                                               "the transport's kind is '{}'",
                                               ToString(topology.transport.kind)));
  }
  context->topology->fabric.sharp = sharp;
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const FabricKind& kind : FabricKinds()) names.emplace_back(kind.name);
  return names;
}

}  // namespace

void ReadFabric(const YamlNode& node, const FileFetcher& fetch, Topology* topology,
                Diagnostics* diagnostics) {
  YamlReader reader(node, "fabric", diagnostics);
  int kind = -1;
  reader.ReadChoice("kind", KindNames(), &kind, true);
  FabricContext context{&reader, diagnostics, topology, Time::Ns(5), fetch};
  // Signals travel at two thirds of c in fiber and copper: 5 ns per meter.
  reader.ReadOptional("delay_per_metre", &context.per_metre);
  if (kind < 0) return;
  const FabricKind& chosen = FabricKinds()[static_cast<size_t>(kind)];
  topology->fabric.kind = chosen.name;
  chosen.make(&context);
  ReadSharp(&context);
  ReadEnum("routing", RoutingNames(), &reader, &topology->fabric.routing);
  reader.Finish();
}

}  // namespace drydock
