// What the launches of a recorded program amount to. NCCL makes one launch of all calls that a rank
// makes in one group on one communicator. Launches of several ranks belong together if a collective
// or a message joins them; where that is one launch a rank, they are one call of the workload: a
// grouped call, or an exchange.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_LAUNCHES_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_LAUNCHES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "core/model/workload.h"
#include "simccl/record/record_log.h"

namespace drydock {

// How one rank's launch is written down. What is not a call of several stays a call of its own.
struct LaunchForm {
  const CommCall* all = nullptr;          // the launch is this call
  const CommCall* collectives = nullptr;  // its collectives are this call
};

class RecordLaunches {
 public:
  RecordLaunches() = default;
  // The recording must have passed MatchCalls.
  explicit RecordLaunches(const Recording& recording);
  // Of the calls that a member of a communicator made in one group (RecordEntry::group).
  LaunchForm Of(uint64_t communicator, int member, uint64_t group) const;

 private:
  std::deque<CommCall> calls_;
  std::map<std::tuple<uint64_t, int, uint64_t>, LaunchForm> forms_;
};

// The workload's name of an NCCL type.
DataType TypeOf(const RecordEntry& entry);

// A collective or a message as the workload has it.
CommCall CallOf(const RecordEntry& entry, int members);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_LAUNCHES_H_
