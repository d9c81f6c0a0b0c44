// A cluster file from an inventory of a real fabric.
#ifndef DRYDOCK_CORE_SCHEMA_INVENTORY_CLUSTER_TEXT_H_
#define DRYDOCK_CORE_SCHEMA_INVENTORY_CLUSTER_TEXT_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/schema/inventory/inventory.h"

namespace drydock {

struct ClusterText {
  std::string text;                // of a cluster file
  std::vector<std::string> notes;  // what is left out or assumed
};

// Returns a cluster file with `fabric: {kind: explicit}`. An inventory says nothing of what is
// inside a device: kinds of host, latency and buffer of switches and the transport are those of the
// cluster file `base`, whose first kind of host has `nics` NICs at `rate`. Hosts with another
// number of cables are left out, with a note; a cable without a rate runs at the NIC's, one without
// a length is as long as `base`'s cables of leaf switches. `name` is the cluster's. Errors: no host
// remains; a base without leaf switches.
Result<ClusterText> ClusterOfInventory(const Inventory& inventory, const YamlNode& base, int nics,
                                       Bandwidth rate, const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_INVENTORY_CLUSTER_TEXT_H_
