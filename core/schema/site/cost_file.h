// The section `cost:` of cluster.topo (docs/reference/cluster-file.md).
#ifndef DRYDOCK_CORE_SCHEMA_SITE_COST_FILE_H_
#define DRYDOCK_CORE_SCHEMA_SITE_COST_FILE_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// The parts of a cluster that its costs have to name.
struct PricedParts {
  bool switches = false, cables = false;
  // What a GPU may draw, and where that is stated; 0: not known.
  int gpu_watts = 0;
  std::string gpu_watts_source;
};

// `gpu_watts`: what the file of the cluster's GPU states; 0: nothing. The hosts' `power_limit`
// counts before it.
PricedParts PricedPartsOf(const Topology& topology, int gpu_watts);

// Reads the section. Appends to *notes the keys that have no effect on these parts.
void ReadCost(const YamlNode& node, const PricedParts& parts, Cost* cost,
              std::vector<std::string>* notes, Diagnostics* diagnostics);

// Returns true if ReadCost may give these costs for a cluster with these parts.
bool IsCost(const Cost& cost, const PricedParts& parts);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_SITE_COST_FILE_H_
