// Plays one rank of a schedule (core/nccl/rank_schedule.h) on NCCL: makes the rank's communicators
// and its calls. An error ends the process and prints the op and NCCL's reason to stderr.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SCHEDULE_RANK_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SCHEDULE_RANK_H_

#include <cuda_runtime.h>
#include <nccl.h>

#include <string>
#include <vector>

#include "core/nccl/rank_schedule.h"

namespace drydock::schedule {

// `file` is the schedule in memory.
class Rank {
 public:
  Rank(const char* file, int rank, int device);

  // Makes the world by ncclCommInitRankConfig, and every split of it by ncclCommSplit.
  void MakeCommunicators(const ncclUniqueId& id);
  // Plays every op in order, on its stream and after its events.
  void PlayOps();
  void DestroyCommunicators();

 private:
  struct Communicator {
    ncclComm_t comm = nullptr;
    int member = 0;
    bool registered = false, symmetric = false;  // which buffers are registered with it
  };
  void Split(int split);
  void Play(const ScheduleOp& op, uint64_t number);
  void MakeCalls(const ScheduleOp& op, Communicator* communicator);
  void MakeCall(const hacknccl_call& call, cudaStream_t stream, Communicator* communicator);
  char* BufferFor(int kind, Communicator* communicator);
  void Check(ncclResult_t result, const char* what);
  void Check(cudaError_t error, const char* what);
  [[noreturn]] void Fail(const std::string& reason);

  const char* file_;
  const RankSchedule& schedule_;
  const int rank_, device_, class_;
  std::vector<Communicator> communicators_;  // the world, then by split
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  const uint32_t* waits_ = nullptr;  // of the next op
  std::string place_;                // the current action, for messages
  const ScheduleOp* op_ = nullptr;   // the current op, instead of place_
  uint64_t number_ = 0;
  char* plain_ = nullptr;
  char* registered_ = nullptr;
  char* symmetric_ = nullptr;
};

}  // namespace drydock::schedule

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SCHEDULE_RANK_H_
