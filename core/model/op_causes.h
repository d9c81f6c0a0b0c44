// The cause of an op: the op that ended last of all that the op had to wait for. An op waits for
// its dependencies, the previous op of its stream, and the ops that the host waited for before it
// issued the op. If several ops end last at one time, an op other than compute is preferred, then
// the later op in the program.
//
// docs/explanation/accounting.md has the rule; each rank's account and the cluster's critical path
// follow the causes back from op to op.
#ifndef DRYDOCK_CORE_MODEL_OP_CAUSES_H_
#define DRYDOCK_CORE_MODEL_OP_CAUSES_H_

#include <cstdint>
#include <vector>

#include "core/model/timeline.h"
#include "core/model/workload.h"

namespace drydock {

inline constexpr uint32_t kNoCause = UINT32_MAX;

class OpCauses {
 public:
  // REQUIRES: both outlive this; the timeline has a time for each op of the program.
  OpCauses(const Program& program, const RankTimeline& timeline);

  // Returns an earlier op of the program; kNoCause if the op waited for nothing.
  uint32_t Of(uint32_t op) const;
  // Returns kNoCause if the program has no ops.
  uint32_t LastToEnd() const;

 private:
  bool EndsLater(uint32_t a, uint32_t b) const;
  void FindHostWaits();

  const Program& program_;
  const RankTimeline& timeline_;
  std::vector<uint32_t> previous_in_stream_;
  std::vector<uint32_t> host_waited_;  // by op: the last op that the host waited for before it
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_OP_CAUSES_H_
