// Functions that the generators of fabrics share: layers of equal switches, and the cables between
// them.
#ifndef DRYDOCK_CORE_SCHEMA_FABRIC_FABRIC_BUILDER_H_
#define DRYDOCK_CORE_SCHEMA_FABRIC_FABRIC_BUILDER_H_

#include <string>

#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/schema/fabric/fabric_kind.h"

namespace drydock {

// A layer of equal switches, which `leaf:`, `spine:` or `switch:` describes.
struct Layer {
  int ports = 0;
  Bandwidth rate;
  double cable_metres = 0;
  Time latency;
  Bytes buffer;
  double oversubscription = 1;  // of the layer below, towards this one
};

enum class LayerRole { kBottom, kUpper };

// Reads the layer under `key`; an upper layer may be absent. Returns false if the layer is absent
// or cannot be built.
bool ReadLayer(FabricContext* context, const std::string& key, LayerRole role, Layer* layer);

// Reads a length such as "100 m" under `key`, and returns the delay of a cable of this length.
// Returns zero, and reports, if the value is not a length.
Time ReadCable(const FabricContext& context, const std::string& key, YamlReader* reader);

// Returns the index of the new switch.
int AddSwitch(FabricContext* context, std::string name, int tier, const Layer& layer);
// Adds a cable from a NIC to the switch `leaf`, at the lower of `nic_rate` and the layer's rate.
void ConnectNic(FabricContext* context, int host, int nic, Bandwidth nic_rate, int leaf,
                const Layer& layer);
// Adds a cable between the switches `lower` and `upper`.
void ConnectSwitches(FabricContext* context, int lower, int upper, Bandwidth rate, Time delay);

// Returns the delay of the cables from a switch of the layer to the layer below.
Time CableDelay(const FabricContext& context, const Layer& layer);

// Returns how many cables carry the traffic of `down` cables of rate `below`, divided by the
// oversubscription of the layer above.
int UplinksFor(int down, Bandwidth below, const Layer& layer, const Layer& above);

// Puts `per_switch` NICs on each switch, host by host, from switch 0.
void ConnectNics(FabricContext* context, int per_switch, const Layer& layer);

// Returns false, and reports, if a switch needs more ports than it has. `what` names the uses of
// the ports.
bool PortsSuffice(FabricContext* context, const Layer& layer, int needed, const char* what);

// Returns the number of NICs of all hosts.
int64_t CountNics(const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FABRIC_FABRIC_BUILDER_H_
