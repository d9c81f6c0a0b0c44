// Dragonfly (Kim, Dally, Scott and Abts, ISCA 2008): every switch of a group has a cable to each
// other switch of the group, and every group has cables to each other group.
#include <fmt/format.h>

#include <algorithm>

#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"

namespace drydock {
namespace {

struct DragonflyShape {
  int nics = 0;      // per switch (p)
  int switches = 0;  // per group (a)
  int cables = 0;    // to other groups, per switch (h)
  int groups = 0;
};

// Returns the switch that has cable `slot` of a group: the slots go to the switches in turn.
int SwitchOf(const DragonflyShape& shape, int group, int slot) {
  return group * shape.switches + slot % shape.switches;
}

void ConnectGroups(FabricContext* context, const DragonflyShape& shape, const Layer& layer,
                   Time delay) {
  if (shape.groups < 2) return;
  const int others = shape.groups - 1;
  const int between = shape.switches * shape.cables / others;  // cables between two groups
  for (int a = 0; a < shape.groups; ++a) {
    for (int b = a + 1; b < shape.groups; ++b) {
      for (int copy = 0; copy < between; ++copy) {
        const int from = copy * others + (b - a - 1);
        const int to = copy * others + (a - b + shape.groups - 1);
        ConnectSwitches(context, SwitchOf(shape, a, from), SwitchOf(shape, b, to), layer.rate,
                        delay);
      }
    }
  }
}

}  // namespace

void MakeDragonfly(FabricContext* context) {
  Layer layer;
  DragonflyShape shape;
  const bool sane = ReadLayer(context, "switch", LayerRole::kBottom, &layer);
  YamlReader* reader = context->reader;
  reader->Read("nics_per_switch", &shape.nics);
  reader->CheckRange("nics_per_switch", shape.nics, 1, 4096);
  reader->Read("switches_per_group", &shape.switches);
  reader->CheckRange("switches_per_group", shape.switches, 1, 4096);
  reader->Read("global_cables", &shape.cables);
  reader->CheckRange("global_cables", shape.cables, 1, 4096);
  const Time global = ReadCable(*context, "global_cable", reader);
  if (!sane || global == Time() || std::min({shape.nics, shape.switches, shape.cables}) < 1 ||
      std::max({shape.nics, shape.switches, shape.cables}) > 4096) {
    return;
  }
  if (!PortsSuffice(context, layer, shape.nics + shape.switches - 1 + shape.cables,
                    "its NICs, its group and its global cables")) {
    return;
  }
  const int64_t of_group = int64_t{shape.nics} * shape.switches;
  const int64_t groups = (CountNics(*context->topology) + of_group - 1) / of_group;
  const int64_t most = int64_t{shape.switches} * shape.cables + 1;
  if (groups > most) {
    return reader->Fail("global_cables",
                        fmt::format("the NICs need {} groups, but {} cables from each switch join "
                                    "at most {}",
                                    groups, shape.cables, most));
  }
  shape.groups = static_cast<int>(groups);
  for (int group = 0; group < shape.groups; ++group) {
    for (int i = 0; i < shape.switches; ++i) {
      AddSwitch(context, fmt::format("group{}.switch{}", group, i), 0, layer);
    }
  }
  ConnectNics(context, shape.nics, layer);
  for (int group = 0; group < shape.groups; ++group) {
    for (int a = 0; a < shape.switches; ++a) {
      for (int b = a + 1; b < shape.switches; ++b) {
        ConnectSwitches(context, SwitchOf(shape, group, a), SwitchOf(shape, group, b), layer.rate,
                        CableDelay(*context, layer));
      }
    }
  }
  ConnectGroups(context, shape, layer, global);
}

}  // namespace drydock
