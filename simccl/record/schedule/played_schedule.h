// Makes the recording of a schedule (encode_schedule.h) a workload again. NCCL's part of each op
// comes from the recording, the rest from the schedule; the op's number joins the two.
//
//   from the recording   the members of each group; the ops of each rank, in order; the calls of
//                        each op and their communicators; the order of ops (streams, events); the
//                        waits of the host
//   from the schedule    the purpose of each op (phase, layer, micro-batch), computation, memory
//                        copies, and calls that bypass NCCL
#ifndef DRYDOCK_SIMCCL_RECORD_SCHEDULE_PLAYED_SCHEDULE_H_
#define DRYDOCK_SIMCCL_RECORD_SCHEDULE_PLAYED_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/nccl/nccl_calls.h"
#include "simccl/record/log/recording.h"
#include "simccl/record/schedule/encode_schedule.h"

namespace drydock {

class PlayedSchedule {
 public:
  // `schedule` must outlive this object. REQUIRES: it includes its programs.
  explicit PlayedSchedule(const Workload& schedule);

  // Takes what a rank did. Reduces `recorded` to its calls, each with its op's number as `event`.
  // The error names the op that differs from the schedule.
  Status Take(int rank, RecordedRank* recorded);

  // Returns the workload. REQUIRES: Take was called for every rank and MatchCalls is OK.
  Result<Workload> Finish(const Recording& recording);

 private:
  struct Made {
    int scheduled = 0;  // class
    Program program;
  };
  // A rank's place in the communicator of a role.
  struct Membership {
    uint64_t communicator = 0;  // as recorded
    size_t member = 0;
  };
  std::vector<Membership> MembershipsOf(int rank, const RecordedRank& recorded) const;
  Status CheckCalls(int rank, const RecordedRank& recorded) const;
  std::string Mismatch(int rank, uint64_t op) const;
  int ClassOf(int scheduled, Program program);

  const Workload& schedule_;
  ScheduleSplits splits_;
  std::vector<GroupOfCalls> calls_;  // by call; empty for calls that bypass NCCL
  std::vector<Made> made_;           // by class
  std::vector<int> class_of_rank_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_SCHEDULE_PLAYED_SCHEDULE_H_
