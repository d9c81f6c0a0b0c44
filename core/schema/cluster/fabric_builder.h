// What the generators of fabrics share: layers of equal switches, and the cables between them.
// Internal to core/schema; one file a family: fabric_clos.cc, fabric_direct.cc, fabric_explicit.cc.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_BUILDER_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_BUILDER_H_

#include <string>

#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/schema/cluster/fabric_file.h"

namespace drydock {

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
  YamlReader* reader;  // of the section `fabric:`
  Diagnostics* diagnostics;
  Topology* topology;
  Time per_metre;  // signal propagation
  FileFetcher fetch;
};

enum class LayerRole { kBottom, kUpper };

// Reads the layer under `key`, which an upper one may lack. False if it cannot be built with.
bool ReadLayer(FabricContext* context, const std::string& key, LayerRole role, Layer* layer);

// "100 m" under `key`, as the delay of such a cable. Zero (and reported) if it is none.
Time ReadCable(const FabricContext& context, const std::string& key, YamlReader* reader);

// All return or take the index of a switch.
int AddSwitch(FabricContext* context, std::string name, int tier, const Layer& layer);
// A cable at the lower of `nic_rate` and the layer's.
void ConnectNic(FabricContext* context, int host, int nic, Bandwidth nic_rate, int leaf,
                const Layer& layer);
void ConnectSwitches(FabricContext* context, int lower, int upper, Bandwidth rate, Time delay);

// Lengths for a switch's cables downwards.
Time CableDelay(const FabricContext& context, const Layer& layer);

// How many cables carry what `down` cables of rate `below` bring, divided by the oversubscription
// of the layer above.
int UplinksFor(int down, Bandwidth below, const Layer& layer, const Layer& above);

// Number of NICs of all hosts.
int64_t CountNics(const Topology& topology);

// The generators: each reads its keys, reports what is wrong with them, and fills the fabric.
void MakeRailOptimised(FabricContext* context);
void MakeLeafSpine(FabricContext* context);
void MakeFatTree(FabricContext* context);
void MakeSingleSwitch(FabricContext* context);
void MakeDragonfly(FabricContext* context);
void MakeTorus(FabricContext* context);
void MakeSimai(FabricContext* context);
void MakeExplicit(FabricContext* context);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_BUILDER_H_
