// The two sides of the comparison.
#ifndef DRYDOCK_TESTS_ORACLE_RANKS_H_
#define DRYDOCK_TESTS_ORACLE_RANKS_H_

#include <vector>

#include "core/base/result.h"
#include "tests/oracle/cases.h"
#include "tests/oracle/processes.h"

namespace drydock {

// Runs every rank in a separate process, with NCCL's real exchanges. Returns the lines of each rank
// of the whole communicator: its facts (facts.h), then a line "ring connection: Channel 00/0 : 7[7]
// -> 8[0] [send] via NET/IB/7/GDRDMA" for each end of a connection that the rank made, with NCCL's
// own text after the colon. If the communicator is split or shrunk, a rank of no part has no lines.
Result<std::vector<Lines>> RealRanks(const OracleCase& of, bool full);

// The same lines from libhacknccl.so. `real` is the result of RealRanks; it lists the connections
// to query.
Result<std::vector<Lines>> SoloRanks(const OracleCase& of, bool full,
                                     const std::vector<Lines>& real);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_RANKS_H_
