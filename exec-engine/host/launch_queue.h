// The host of one rank, which launches the work of the GPU. It issues the ops of the program in
// order, each at its cost (launch_table.h). It runs ahead of the GPU until the queue of a stream is
// full or an op makes the host wait. Issue() stops at the first op whose issue depends on the end
// of an earlier op, so only ends of ops let it continue.
//
// From the issue of an op until its start, the rank's timeline holds the time at which the host has
// launched the op, in place of its start. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_QUEUE_H_
#define DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_QUEUE_H_

#include <cstdint>
#include <vector>

#include "core/model/timeline.h"
#include "core/model/workload.h"
#include "core/network/relative_state.h"
#include "exec-engine/host/launch_table.h"

namespace drydock {

class LaunchQueue {
 public:
  // All arguments outlive this. The timeline is sized for the program. If launches are not
  // modeled, every op is issued from the beginning.
  LaunchQueue(const Program& program, const LaunchTable& table, size_t streams,
              RankTimeline* timeline);

  // Issues ops until the host has to wait. Returns the first op that is not issued.
  uint32_t Issue(Time now);
  uint32_t next() const { return next_; }
  bool issued(uint32_t op) const { return op < next_; }
  bool done() const { return next_ == program_->ops.size(); }

  // Returns the time before which the compute op cannot end because its last kernels are not
  // launched. REQUIRES: the op is issued and has not started.
  Time EarliestEnd(uint32_t op) const;

  void OnEnded(uint32_t op);
  // Goes on with a program that has the same ops up to the first one that is not issued.
  void GoOnWith(const Program& program);

  bool modeled() const { return table_->modeled(); }
  void AppendState(int rank, RelativeState* out) const;

 private:
  bool MustWait(const Op& op, const LaunchCost& cost) const;
  bool Waits(const Op& op) const;  // Op::host_waits

  const Program* program_;
  const LaunchTable* table_;
  RankTimeline* timeline_;
  uint32_t next_ = 0;
  // Numbers of ops without host work, for which a synchronization of the device does not wait.
  uint32_t device_issued_ = 0, device_ended_ = 0;
  Time free_;  // end of the host's work so far
  bool waits_ = false;
  struct Stream {
    int64_t launches = 0;  // of ops that have not ended
    int64_t ops = 0;       // issued, not ended
  };
  std::vector<Stream> streams_;
  std::vector<bool> has_ended_;  // by op
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_QUEUE_H_
