// What a captured process believes of its host, from the cluster.
#ifndef DRYDOCK_CAPTURE_RUN_PROCESS_FACTS_H_
#define DRYDOCK_CAPTURE_RUN_PROCESS_FACTS_H_

#include <vector>

#include "capture/log/entry.h"
#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock::capture {

// The driver of a host, as NVML and nvidia-smi tell it: that of CUDA 13.0 (release notes of the
// CUDA Toolkit), with which programs of older toolkits run as well.
inline constexpr const char* kDriverVersion = "580.65.06";

// Where a rank of the program is.
struct RankPlace {
  int host = 0;
  int gpu = 0;             // of the cluster
  int local = 0;           // rank on the host; it uses the GPU of this number
  int ranks_beside = 1;    // ranks on the host, with itself
  int ranks_per_host = 1;  // on hosts that are full
};

// Places ranks on hosts in order, `ranks_per_host` on each; 0: one for each GPU. Errors: the
// cluster has no place for all ranks.
Result<std::vector<RankPlace>> PlaceRanks(const Topology& topology, int world, int ranks_per_host);

CapturedProcess FactsOf(const Topology& topology, const RankPlace& place, int rank);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_PROCESS_FACTS_H_
