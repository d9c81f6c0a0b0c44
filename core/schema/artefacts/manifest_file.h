// A manifest outside of a run directory, as `workload-gen explode` writes it next to the traces of
// ranks, with the topology beside it: the tables, and what is needed to write the workload again.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_MANIFEST_FILE_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_MANIFEST_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {

struct ManifestFile {
  Workload workload;     // without programs
  ClusterInput cluster;  // without its topology, which is in the workload
  Provenance provenance;
  std::string attention_backend;
  std::vector<std::string> class_sha256;
};
Result<ManifestFile> ReadManifest(const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_MANIFEST_FILE_H_
