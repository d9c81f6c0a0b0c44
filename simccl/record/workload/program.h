// Makes one rank's program from its recorded calls: the ops, and which op waits for which.
//
// Work of the GPU (kWork) is a compute op. The stream of the first such work is the workload's
// stream "compute".
//
// Keeps the order that CUDA guarantees and no other (order.h). Calls of one group on one
// communicator begin together with the first of them. They form one call if launches.h finds one.
// Otherwise the collectives come first, then the messages side by side, eight at a time in each
// direction, in NCCL's order: the messages with the next rank first.
#ifndef DRYDOCK_SIMCCL_RECORD_WORKLOAD_PROGRAM_H_
#define DRYDOCK_SIMCCL_RECORD_WORKLOAD_PROGRAM_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/record/log/recording.h"
#include "simccl/record/workload/launches.h"

namespace drydock {

// Tables that the programs of all ranks share.
struct RecordTables {
  // Returns the index of `call` in Workload::calls; equal calls share an index.
  uint32_t Intern(const CommCall& call);
  RecordLaunches launches;
  std::vector<CommCall> calls;
  size_t streams = 1;  // the maximum over all ranks, including "compute"

 private:
  std::map<std::string, uint32_t> known_;
};

struct RecordProgram {
  Program program;
  std::vector<size_t> entry_of_op;  // the first entry that the op is made of
  // By role of this rank; roles are in order of first use.
  std::vector<uint64_t> communicator_of_role;
};

// Returns the program of one rank. Errors: more streams or communicators than an op can name.
Result<RecordProgram> MakeRecordProgram(const Recording& recording, const RecordedRank& rank,
                                        RecordTables* tables);

// Returns "compute", "stream 1", "stream 2", ...
std::vector<std::string> RecordStreamNames(size_t count);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_WORKLOAD_PROGRAM_H_
