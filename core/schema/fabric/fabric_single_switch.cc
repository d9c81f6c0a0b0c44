// Every NIC on one switch.
#include <fmt/format.h>

#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"

namespace drydock {

void MakeSingleSwitch(FabricContext* context) {
  Layer layer;
  if (!ReadLayer(context, "switch", LayerRole::kBottom, &layer)) return;
  const int only = AddSwitch(context, "switch", 0, layer);
  for (int host = 0; host < context->topology->host_count(); ++host) {
    const Nics& nics = context->topology->kind_of_host(host).nics;
    for (int nic = 0; nic < nics.count; ++nic) {
      ConnectNic(context, host, nic, nics.rate, only, layer);
    }
  }
  const int64_t needed = CountNics(*context->topology);
  if (needed > layer.ports) {
    context->reader->Fail("switch",
                          fmt::format("{} NICs do not fit on {} ports", needed, layer.ports));
  }
}

}  // namespace drydock
