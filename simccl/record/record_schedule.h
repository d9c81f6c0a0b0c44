// A workload in the words of nccl.h, for the program that plays its ranks
// (core/nccl/rank_schedule.h): what each rank's ops call, and how its groups are made.
//
// Groups are made as torch.distributed does on a bound device, by splitting the world. Groups that
// share no rank are made in one split, as DeviceMesh does; splits and groups are in the order of
// Workload::groups. A group of all ranks in order is the world itself.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_SCHEDULE_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_SCHEDULE_H_

#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

struct ScheduleSplits {
  std::vector<std::vector<int>> group_of_rank;  // [split][rank]: -1 where it is in none
  // By group: 0 is the world, k + 1 is made by split k.
  std::vector<int> communicator_of_group;
};
ScheduleSplits SplitsOf(const Workload& workload);

// False of ops that are no communication, and of communication that goes past NCCL
// (simccl/plan/userbuffers.h).
bool CallsNccl(const Workload& workload, const Op& op);

// The file, with all programs.
std::string EncodeRankSchedule(const Workload& workload);

// "op 212 of class 3 (tp.all-gather mb0 layer3, forward)".
std::string ScheduledPlace(const Workload& workload, int rank, uint64_t op);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_SCHEDULE_H_
