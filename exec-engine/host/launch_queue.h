// One rank's host, which gives the GPU its work: it issues the ops of the program in order, each at
// its cost (launch_table.h), running ahead of the GPU until a stream's queue is full or an op says
// that the host waits. What it will do is worked out as far as it depends on nothing to come, so
// that only ops that end set it going again.
//
// When an op may start for the host's sake stands in the rank's timeline, in the place of its
// start, from when it is issued until it starts. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_QUEUE_H_
#define DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_QUEUE_H_

#include <cstdint>
#include <vector>

#include "core/model/timeline.h"
#include "core/model/workload.h"
#include "exec-engine/host/launch_table.h"

namespace drydock {

class LaunchQueue {
 public:
  // All outlive it; the timeline is sized for the program. Where launches cost nothing, every op
  // has been issued from the beginning.
  LaunchQueue(const Program& program, const LaunchTable& table, size_t streams,
              RankTimeline* timeline);

  // Issues what it can. Returns the first op that is not issued; those before it may start at the
  // times in the timeline.
  uint32_t Issue(Time now);
  uint32_t next() const { return next_; }
  bool issued(uint32_t op) const { return op < next_; }
  bool done() const { return next_ == program_->ops.size(); }

  // The compute op, issued and not started, ends no earlier, for its last launches' sake.
  Time EarliestEnd(uint32_t op) const;

  void OnEnded(uint32_t op);

 private:
  bool MustWait(const Op& op, const LaunchCost& cost) const;
  bool Waits(const Op& op) const;  // for what the op says

  const Program* program_;
  const LaunchTable* table_;
  RankTimeline* timeline_;
  uint32_t next_ = 0;
  uint32_t ended_ = 0;  // how many ops
  Time free_;           // the host has nothing to do from then on
  bool waits_ = false;
  struct Stream {
    int64_t launches = 0;  // whose ops have not ended
    int64_t ops = 0;       // issued, not ended
  };
  std::vector<Stream> streams_;
  std::vector<bool> has_ended_;  // by op
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_LAUNCH_QUEUE_H_
