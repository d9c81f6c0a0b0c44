#include "core/schema/cluster/fabric_table.h"

#include <fmt/format.h>

#include "core/schema/fabric/generators.h"

namespace drydock {
namespace {

void MakeNone(FabricContext* context) {
  if (context->topology->host_count() > 1) {
    context->reader->Fail("kind", fmt::format("'none' joins no hosts, but the cluster has {}",
                                              context->topology->host_count()));
  }
}

}  // namespace

const std::vector<FabricKind>& FabricKinds() {
  static const std::vector<FabricKind> kinds = {
      {"rail-optimised", MakeRailOptimised},  // NIC i of every host goes to leaves of rail i
      {"leaf-spine", MakeLeafSpine},          // all NICs of a host go to one leaf
      {"fat-tree", MakeFatTree},              // k-ary, of equal switches
      {"single-switch", MakeSingleSwitch},    // every NIC on one switch
      {"dragonfly", MakeDragonfly},           // groups of switches, all groups joined
      {"torus", MakeTorus},                   // switches in a grid, closed to rings or not
      {"simai", MakeSimai},                   // a topology file of SimAI
      {"explicit", MakeExplicit},             // switches and links as listed
      {"none", MakeNone}};                    // one host, no fabric
  return kinds;
}

}  // namespace drydock
