// `workload-gen explode` writes a workload as one Chakra trace per rank, with absolute numbers of
// groups and peers. `workload-gen merge` reads the traces back. If they are unchanged, it restores
// the workload byte for byte. Edited traces get separate rank classes.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_EXPLODE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_EXPLODE_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {

// The names of the manifest and the topology in a folder of exploded traces.
inline constexpr const char* kExplodedManifest = "manifest.pb";
inline constexpr const char* kExplodedTopology = "topology.pb";

// The contents of these files: those of the run.
struct ExplodedTables {
  std::string manifest, topology;
};

struct ExplodeOptions {
  std::string prefix = "workload";
  std::vector<int> ranks;  // empty: all
  // Called at intervals with the number of ranks written so far.
  std::function<void(size_t done, size_t all)> progress;
};
struct Exploded {
  size_t files = 0, nodes = 0;
  int64_t bytes = 0;
  std::vector<std::string> warnings;  // facts that the traces cannot express
};
// Writes DIR/<prefix>.<rank>.et, DIR/<prefix>.json (groups), and DIR/manifest.pb and
// DIR/topology.pb from `tables`. `times` may be null. REQUIRES: DIR is empty or does not exist.
Result<Exploded> Explode(const Workload& workload, const KernelTimes* times,
                         const ExplodedTables& tables, const std::string& dir,
                         const ExplodeOptions& options);

// Returns the groups in the form that ASTRA-sim reads, {"1": [0, 1], ...}, one per line.
std::string GroupsText(const Workload& workload);

struct Merged {
  Workload workload;
  ClusterInput cluster;
  Provenance provenance;
  std::string attention_backend;
  size_t durations = 0;  // number of durations in the traces; merge drops them
};
// `place` is an argument of FindTraces. The manifest is in the same folder.
Result<Merged> Merge(const std::string& place);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_EXPLODE_H_
