// Encodes a workload as the NCCL calls of its ranks, for the program that plays them
// (core/nccl/rank_schedule.h).
//
// Groups are made by splitting the world, as torch.distributed does on a bound device. Groups that
// share no rank are made in one split, as DeviceMesh does. Splits and groups keep the order of
// Workload::groups. A group of all ranks in order is the world itself.
#ifndef DRYDOCK_SIMCCL_RECORD_SCHEDULE_ENCODE_SCHEDULE_H_
#define DRYDOCK_SIMCCL_RECORD_SCHEDULE_ENCODE_SCHEDULE_H_

#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

struct ScheduleSplits {
  std::vector<std::vector<int>> group_of_rank;  // [split][rank]; -1: the rank is in no group
  // By group: 0 is the world, k + 1 comes from split k.
  std::vector<int> communicator_of_group;
};
ScheduleSplits SplitsOf(const Workload& workload);

// Returns true for communication through NCCL. Userbuffers bypass NCCL
// (simccl/userbuffers/userbuffers_planner.h).
bool CallsNccl(const Workload& workload, const Op& op);

// Returns the content of the schedule file. REQUIRES: the workload includes its programs.
std::string EncodeRankSchedule(const Workload& workload);

// Returns "op 212 of class 3 (tp.all-gather mb0 layer3, forward)".
std::string ScheduledPlace(const Workload& workload, int rank, uint64_t op);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_SCHEDULE_ENCODE_SCHEDULE_H_
