// The section `storage:` of cluster.topo (docs/reference/cluster-file.md).
#ifndef DRYDOCK_CORE_SCHEMA_SITE_STORAGE_FILE_H_
#define DRYDOCK_CORE_SCHEMA_SITE_STORAGE_FILE_H_

#include "core/base/yaml.h"
#include "core/model/cost.h"

namespace drydock {

void ReadStorage(const YamlNode& node, Storage* storage, Diagnostics* diagnostics);

// Returns true if ReadStorage may give this storage.
bool IsStorage(const Storage& storage);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_SITE_STORAGE_FILE_H_
