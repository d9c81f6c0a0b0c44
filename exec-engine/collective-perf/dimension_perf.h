// collective-perf on a network and a system from ASTRA-sim's files: no cluster, no NCCL, and the
// collectives of ASTRA-sim's system layer (dimensions/dimension_system.h).
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_DIMENSION_PERF_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_DIMENSION_PERF_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/fabric/dimension_network.h"
#include "exec-engine/collective-perf/collective_table.h"

namespace drydock {

struct DimensionPerf {
  DimensionNetwork network;
  CollectiveSystem system;
  // "all-reduce on Ring 4 x Switch 8, 32 NPUs"
  std::string Title(CollectiveType type) const;
};

// Reads both files.
Result<DimensionPerf> LoadDimensionPerf(const std::string& network_file,
                                        const std::string& system_file);

// Returns an error for a collective that ASTRA-sim does not have.
Status CheckDimensionCollective(CollectiveType type);

SweepResult TimeDimensionSize(const DimensionPerf& perf, const SweepSize& size);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_DIMENSION_PERF_H_
