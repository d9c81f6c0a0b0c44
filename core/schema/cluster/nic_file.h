// Reads configs/nics.yaml: what a NIC costs where cluster.topo says nothing, with its source.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_NIC_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_NIC_FILE_H_

#include <string>

#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct NicDefaults {
  Time message;  // Nics::message
};

// Reports all mistakes at once.
Result<NicDefaults> ParseNicFile(const std::string& text, const std::string& file_name);

// The file in the configs of this build.
std::string NicPath();
Result<NicDefaults> LoadNicDefaults();

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_NIC_FILE_H_
