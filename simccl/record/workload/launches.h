// Finds the workload's calls in the launches of a recorded program. NCCL makes one launch of all
// calls that a rank makes in one group on one communicator. Launches of several ranks belong
// together if a collective or a message joins them. If that set has one launch per rank, it is one
// call of the workload: a grouped call, or an exchange.
#ifndef DRYDOCK_SIMCCL_RECORD_WORKLOAD_LAUNCHES_H_
#define DRYDOCK_SIMCCL_RECORD_WORKLOAD_LAUNCHES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "core/model/workload.h"
#include "simccl/record/log/recording.h"

namespace drydock {

// The calls that represent one rank's launch. Calls that neither field covers stay single calls.
struct LaunchForm {
  const CommCall* all = nullptr;          // represents the whole launch
  const CommCall* collectives = nullptr;  // represents the launch's collectives
};

class RecordLaunches {
 public:
  RecordLaunches() = default;
  // REQUIRES: MatchCalls(recording) is OK.
  explicit RecordLaunches(const Recording& recording);
  // Returns the form of the launch that a member made of one group (RecordEntry::group).
  LaunchForm Of(uint64_t communicator, int member, uint64_t group) const;

 private:
  std::deque<CommCall> calls_;
  std::map<std::tuple<uint64_t, int, uint64_t>, LaunchForm> forms_;
};

// Returns the workload's call for one collective or message.
CommCall CallOf(const RecordEntry& entry, int members);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_WORKLOAD_LAUNCHES_H_
