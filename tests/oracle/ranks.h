// The two sides of the comparison.
#ifndef DRYDOCK_TESTS_ORACLE_RANKS_H_
#define DRYDOCK_TESTS_ORACLE_RANKS_H_

#include <vector>

#include "core/base/result.h"
#include "tests/oracle/cases.h"
#include "tests/oracle/processes.h"

namespace drydock {

// Every rank in a process of its own, with the real exchanges: by rank (of the whole communicator,
// where that comes apart; a rank of no part says nothing), its facts (facts.h) and
// then a line "ring connection: Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/7/GDRDMA" for each
// end it made, NCCL's own words after the colon.
Result<std::vector<Lines>> RealRanks(const OracleCase& of, bool full);

// The same lines from libhacknccl.so. `real` is the result of RealRanks; it lists the connections
// to query.
Result<std::vector<Lines>> SoloRanks(const OracleCase& of, bool full,
                                     const std::vector<Lines>& real);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_RANKS_H_
