// A Chakra trace of one rank, which other tools can read without the manifest: groups and peers are
// numbers of the whole run, as ASTRA-sim's feeder expects (docs/how-to/work-with-traces.md). The
// attribute "drydock.op" stores the other values of an op, so that the program can be restored with
// the manifest.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_RANK_TRACE_FILE_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_RANK_TRACE_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// pg_name is the group's index + 1; comm_dst and comm_src are ranks. `block_time`, by block: its
// time on the rank's GPU, or Time::Max() if unknown. It is written as duration_micros (rounded up,
// so no block has the duration 0) and duration_ps.
std::string EncodeRankTrace(const Workload& workload, int rank,
                            const std::vector<Time>& block_time);

// Returns the program, without durations. Everything else in the trace must agree with the tables:
// the error names the node, the attribute and both values.
struct RankTrace {
  Program program;
  size_t durations = 0;  // nodes with a duration
};
Result<RankTrace> DecodeRankTrace(const std::string& content, const Workload& workload, int rank,
                                  const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_RANK_TRACE_FILE_H_
