// One rank's program out of what it called: which op follows which.
//
// What CUDA orders is kept, and nothing else (record_order.h). Calls of one group on one
// communicator begin together with the first of them, as one call where they are one
// (record_launches.h); else its collectives, then its messages side by side, eight at a time each
// way, in NCCL's own order (the next rank's first).
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_PROGRAM_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_PROGRAM_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/record/record_launches.h"
#include "simccl/record/record_log.h"

namespace drydock {

// What the programs of all ranks share.
struct RecordTables {
  // Index in Workload::calls, stored once.
  uint32_t Intern(const CommCall& call);
  RecordLaunches launches;
  std::vector<CommCall> calls;
  size_t streams = 1;  // the most any rank uses, "compute" included

 private:
  std::map<std::string, uint32_t> known_;
};

struct RecordProgram {
  Program program;
  std::vector<uint64_t> communicator_of_role;  // of this rank; roles in order of first use
};

// Errors: more streams or communicators than an op can name.
Result<RecordProgram> MakeRecordProgram(const Recording& recording, const RecordedRank& rank,
                                        RecordTables* tables);

// "compute", "stream 1", "stream 1 send 1", ...
std::vector<std::string> RecordStreamNames(size_t count);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_PROGRAM_H_
