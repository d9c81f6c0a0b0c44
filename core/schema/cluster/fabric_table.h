// The kinds of fabric that `fabric: {kind: ...}` can name.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_TABLE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_TABLE_H_

#include <vector>

#include "core/schema/fabric/fabric_kind.h"

namespace drydock {

const std::vector<FabricKind>& FabricKinds();

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_TABLE_H_
