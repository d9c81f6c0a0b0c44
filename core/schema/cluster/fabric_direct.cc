// Fabrics whose switches all have NICs: dragonflies, tori and meshes.
#include <fmt/format.h>

#include <algorithm>

#include "core/schema/cluster/fabric_builder.h"

namespace drydock {
namespace {

// Puts `per_switch` NICs on each switch, host by host. Switch 0 is the fabric's first.
void ConnectNics(FabricContext* context, int per_switch, const Layer& layer) {
  int placed = 0;
  for (int host = 0; host < context->topology->host_count(); ++host) {
    const Nics& nics = context->topology->kind_of_host(host).nics;
    for (int nic = 0; nic < nics.count; ++nic, ++placed) {
      ConnectNic(context, host, nic, nics.rate, placed / per_switch, layer);
    }
  }
}

// False (and reported) if a switch needs more ports than it has.
bool PortsSuffice(FabricContext* context, const Layer& layer, int needed, const char* what) {
  if (needed <= layer.ports) return true;
  context->reader->Fail("switch", fmt::format("a switch of {} ports has no room for {}: {}",
                                              layer.ports, what, needed));
  return false;
}

struct DragonflyShape {
  int nics = 0;      // of a switch (p)
  int switches = 0;  // of a group (a)
  int cables = 0;    // to other groups, of a switch (h)
  int groups = 0;
};

// Cable `slot` of a group belongs to this switch of it: one after another.
int SwitchOf(const DragonflyShape& shape, int group, int slot) {
  return group * shape.switches + slot % shape.switches;
}

void ConnectGroups(FabricContext* context, const DragonflyShape& shape, const Layer& layer,
                   Time delay) {
  if (shape.groups < 2) return;
  const int others = shape.groups - 1;
  const int between = shape.switches * shape.cables / others;  // cables of each two groups
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

// Kim, Dally, Scott and Abts (ISCA 2008): groups of switches that are all joined to each other, and
// each group to each other one.
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
                        fmt::format("{} groups are needed, and {} cables from each switch join at "
                                    "most {}",
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

namespace {

struct TorusShape {
  std::vector<int> sizes;  // by dimension
  bool wrap = true;        // false: a mesh
  int64_t switches = 1;
};

constexpr int64_t kMostTorusSwitches = 65536;

// False (and reported) if there is no such torus.
bool ReadTorus(YamlReader* reader, TorusShape* shape) {
  reader->ReadOptional("wrap", &shape->wrap);
  const YamlNode* list = reader->Take("dimensions", true);
  if (list == nullptr) return false;
  for (const YamlNode& item : list->items) {
    const Result<int64_t> size = AsInteger(item);
    const bool fits = size.ok() && *size >= 1 && *size <= kMostTorusSwitches;
    shape->switches = fits ? shape->switches * *size : 0;
    if (!fits || shape->switches > kMostTorusSwitches) break;
    shape->sizes.push_back(static_cast<int>(*size));
  }
  if (list->items.empty() || list->items.size() > 6 || shape->sizes.size() != list->items.size()) {
    reader->Fail("dimensions", fmt::format("'dimensions' must be 1 to 6 numbers from 1 on, as "
                                           "[4, 4, 8], of at most {} switches",
                                           kMostTorusSwitches));
    return false;
  }
  return true;
}

std::string NameAt(const TorusShape& shape, int64_t number) {
  std::string name = "at";
  for (const int size : shape.sizes) {
    name += fmt::format("{}{}", name.size() > 2 ? "." : "", number % size);
    number /= size;
  }
  return name;
}

}  // namespace

// Switch x + X y + X Y z is at (x, y, z); neighbours differ by one in one of these.
void MakeTorus(FabricContext* context) {
  Layer layer;
  TorusShape shape;
  const bool sane = ReadLayer(context, "switch", LayerRole::kBottom, &layer);
  YamlReader* reader = context->reader;
  int per_switch = context->topology->kind_of_host(0).nics.count;
  reader->ReadOptional("nics_per_switch", &per_switch);
  reader->CheckRange("nics_per_switch", per_switch, 1, 4096);
  if (!ReadTorus(reader, &shape) || !sane || per_switch < 1 || per_switch > 4096) return;
  int neighbours = 0;
  for (const int size : shape.sizes) neighbours += std::min(size - 1, 2);
  if (!PortsSuffice(context, layer, per_switch + neighbours, "its NICs and its neighbours")) return;
  const int64_t nics = CountNics(*context->topology);
  if (nics > shape.switches * per_switch) {
    return reader->Fail("dimensions", fmt::format("{} switches with {} NICs each have no room for "
                                                  "{} NICs",
                                                  shape.switches, per_switch, nics));
  }
  for (int64_t i = 0; i < shape.switches; ++i) AddSwitch(context, NameAt(shape, i), 0, layer);
  ConnectNics(context, per_switch, layer);
  int64_t stride = 1;
  for (const int size : shape.sizes) {
    for (int64_t i = 0; i < shape.switches; ++i) {
      const int64_t at = i / stride % size;
      const bool last = at == size - 1;
      if (last && (!shape.wrap || size <= 2)) continue;  // two switches in a row have one cable
      const int64_t next = last ? i - (size - 1) * stride : i + stride;
      ConnectSwitches(context, static_cast<int>(i), static_cast<int>(next), layer.rate,
                      CableDelay(*context, layer));
    }
    stride *= size;
  }
}

}  // namespace drydock
