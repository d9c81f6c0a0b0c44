// Fat-tree of equal switches (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and k/2
// aggregation switches, and (k/2)^2 cores. Pods without NICs are left out.
#include <fmt/format.h>

#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"

namespace drydock {

void MakeFatTree(FabricContext* context) {
  Layer layer;
  if (!ReadLayer(context, "switch", LayerRole::kBottom, &layer)) return;
  const int k = layer.ports, half = k / 2;
  const int64_t nics = CountNics(*context->topology);
  if (k % 2 != 0) {
    return context->reader->Fail("switch", fmt::format("a fat-tree's switches have an even number "
                                                       "of ports, not {}",
                                                       k));
  }
  if (nics > int64_t{k} * half * half) {
    return context->reader->Fail("switch", fmt::format("{} NICs do not fit on a fat-tree of "
                                                       "switches with {} ports: it takes {}",
                                                       nics, k, int64_t{k} * half * half));
  }
  const int64_t of_pod = int64_t{half} * half;
  const int pods = static_cast<int>((nics + of_pod - 1) / of_pod);
  std::vector<int> edges, aggregations;
  for (int pod = 0; pod < pods; ++pod) {
    for (int i = 0; i < half; ++i) {
      edges.push_back(AddSwitch(context, fmt::format("pod{}.edge{}", pod, i), 0, layer));
    }
    for (int i = 0; i < half; ++i) {
      aggregations.push_back(
          AddSwitch(context, fmt::format("pod{}.aggregation{}", pod, i), 1, layer));
    }
  }
  int64_t placed = 0;
  for (int host = 0; host < context->topology->host_count(); ++host) {
    const Nics& its = context->topology->kind_of_host(host).nics;
    for (int nic = 0; nic < its.count; ++nic, ++placed) {
      ConnectNic(context, host, nic, its.rate, edges[static_cast<size_t>(placed / half)], layer);
    }
  }
  const Time delay = CableDelay(*context, layer);
  for (int i = 0; i < pods * half; ++i) {
    for (int up = 0; up < half; ++up) {
      ConnectSwitches(context, edges[static_cast<size_t>(i)],
                      aggregations[static_cast<size_t>(i / half * half + up)], layer.rate, delay);
    }
  }
  for (int core = 0; pods > 1 && core < half * half; ++core) {
    const int made = AddSwitch(context, fmt::format("core{}", core), 2, layer);
    for (int pod = 0; pod < pods; ++pod) {
      ConnectSwitches(context, aggregations[static_cast<size_t>(pod * half + core / half)], made,
                      layer.rate, delay);
    }
  }
}

}  // namespace drydock
