// `workload-gen explode` and `merge`: a workload as one Chakra trace a rank, in numbers that hold
// in the whole run, and back. What merge makes of an untouched folder is the workload that was
// exploded, byte for byte; edited traces get classes of their own.
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

// The manifest's name in a folder of exploded traces.
inline constexpr const char* kExplodedManifest = "manifest.pb";

struct ExplodeOptions {
  std::string prefix = "workload";
  std::vector<int> ranks;  // empty: all
  // Told now and then how many of all ranks are done.
  std::function<void(size_t done, size_t all)> progress;
};
struct Exploded {
  size_t files = 0, nodes = 0;
  int64_t bytes = 0;
  std::vector<std::string> warnings;  // what other readers of the traces will not find in them
};
// Writes DIR/<prefix>.<rank>.et, DIR/<prefix>.json (groups) and DIR/manifest.pb, whose bytes are
// `manifest`. DIR must be empty or absent. `times` may be null.
Result<Exploded> Explode(const Workload& workload, const KernelTimes* times,
                         const std::string& manifest, const std::string& dir,
                         const ExplodeOptions& options);

// Groups as ASTRA-sim reads them: {"1": [0, 1], ...}, a line each.
std::string GroupsText(const Workload& workload);

struct Merged {
  Workload workload;
  ClusterInput cluster;
  Provenance provenance;
  std::string attention_backend;
  size_t durations = 0;  // nodes that state one, which are left out
};
// `place`: as FindTraces takes it; the manifest lies in the same folder.
Result<Merged> Merge(const std::string& place);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_EXPLODE_H_
