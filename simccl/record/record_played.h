// The recording of a schedule (record_schedule.h) as the workload that it was: NCCL's part of every
// op as it was recorded, and beside it what NCCL knows nothing of, by the op's number.
//
//   from the recording   the members of each group; the ops of each rank, in order; what each calls
//                        in which communicator; which op follows which (streams, events), and what
//                        the host waits for
//   from the schedule    what an op is for (phase, layer, micro-batch), what computes and what
//                        moves memory, and calls that go past NCCL
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_PLAYED_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_PLAYED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/plan/nccl_calls.h"
#include "simccl/record/record_log.h"
#include "simccl/record/record_schedule.h"

namespace drydock {

class PlayedSchedule {
 public:
  // `schedule` has its programs and outlives this.
  explicit PlayedSchedule(const Workload& schedule);

  // Takes what a rank did, of which only the calls are left, each with its op's number as `event`.
  // The error says which op was not played as the schedule has it.
  Status Take(int rank, RecordedRank* recorded);

  // After every rank has been taken and MatchCalls has passed.
  Result<Workload> Finish(const Recording& recording);

 private:
  struct Made {
    int scheduled = 0;  // class
    Program program;
  };
  // A rank's place in the communicator of a role.
  struct Seat {
    uint64_t communicator = 0;  // as recorded
    size_t member = 0;
  };
  std::vector<Seat> SeatsOf(int rank, const RecordedRank& recorded) const;
  Status CheckCalls(int rank, const RecordedRank& recorded) const;
  std::string Unlike(int rank, uint64_t op) const;
  int ClassOf(int scheduled, Program program);

  const Workload& schedule_;
  ScheduleSplits splits_;
  std::vector<GroupOfCalls> calls_;  // by call; of those past NCCL none
  std::vector<Made> made_;           // by class
  std::vector<int> class_of_rank_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_PLAYED_H_
