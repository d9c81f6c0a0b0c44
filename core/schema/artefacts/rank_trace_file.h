// One rank's own Chakra trace, which means something without the manifest: groups and peers are
// numbers that hold in the whole run, as ASTRA-sim's feeder reads them
// (docs/how-to/work-with-traces.md). Beside that it keeps "drydock.op", so that with the manifest
// at hand nothing is lost.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_RANK_TRACE_FILE_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_RANK_TRACE_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// pg_name is the group's index + 1; comm_dst and comm_src are ranks. `block_time`, by block: how
// long each takes on the rank's GPU, Time::Max() where that is not known; written as
// duration_micros (rounded up, so that nothing takes no time) and duration_ps.
std::string EncodeRankTrace(const Workload& workload, int rank,
                            const std::vector<Time>& block_time);

// The program. Durations are left out, everything else that the trace says must be what the tables
// say: the error names the node, the attribute and both values.
struct RankTrace {
  Program program;
  size_t durations = 0;  // nodes that state one
};
Result<RankTrace> DecodeRankTrace(const std::string& content, const Workload& workload, int rank,
                                  const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_RANK_TRACE_FILE_H_
