// Tori and meshes: switches in a grid of any number of dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"

namespace drydock {
namespace {

struct TorusShape {
  std::vector<int> sizes;  // by dimension
  bool wrap = true;        // false: a mesh
  int64_t switches = 1;
};

constexpr int64_t kMaxTorusSwitches = 65536;

// Returns false, and reports, if the torus cannot be built.
bool ReadTorus(YamlReader* reader, TorusShape* shape) {
  reader->ReadOptional("wrap", &shape->wrap);
  const YamlNode* list = reader->Take("dimensions", true);
  if (list == nullptr) return false;
  for (const YamlNode& item : list->items) {
    const Result<int64_t> size = AsInteger(item);
    const bool fits = size.ok() && *size >= 1 && *size <= kMaxTorusSwitches;
    shape->switches = fits ? shape->switches * *size : 0;
    if (!fits || shape->switches > kMaxTorusSwitches) break;
    shape->sizes.push_back(static_cast<int>(*size));
  }
  if (list->items.empty() || list->items.size() > 6 || shape->sizes.size() != list->items.size()) {
    reader->Fail("dimensions", fmt::format("'dimensions' must be 1 to 6 positive numbers, such "
                                           "as [4, 4, 8], of at most {} switches",
                                           kMaxTorusSwitches));
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

// Switch x + X y + X Y z is at (x, y, z); neighbors differ by one in one coordinate.
void MakeTorus(FabricContext* context) {
  Layer layer;
  TorusShape shape;
  const bool sane = ReadLayer(context, "switch", LayerRole::kBottom, &layer);
  YamlReader* reader = context->reader;
  int per_switch = context->topology->kind_of_host(0).nics.count;
  reader->ReadOptional("nics_per_switch", &per_switch);
  reader->CheckRange("nics_per_switch", per_switch, 1, 4096);
  if (!ReadTorus(reader, &shape) || !sane || per_switch < 1 || per_switch > 4096) return;
  int neighbors = 0;
  for (const int size : shape.sizes) neighbors += std::min(size - 1, 2);
  if (!PortsSuffice(context, layer, per_switch + neighbors, "its NICs and its neighbors")) return;
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
      if (last && (!shape.wrap || size <= 2)) continue;  // two switches have one cable
      const int64_t next = last ? i - (size - 1) * stride : i + stride;
      ConnectSwitches(context, static_cast<int>(i), static_cast<int>(next), layer.rate,
                      CableDelay(*context, layer));
    }
    stride *= size;
  }
}

}  // namespace drydock
