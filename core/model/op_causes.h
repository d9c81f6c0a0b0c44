// What held an op up: of all that it had to wait for, what ended last. That is a dependency, the op
// before it in its stream, or what the host waited for before it issued the op. Two ops that end
// together: communication is taken before compute, then the later in the program.
//
// The rule is that of docs/explanation/accounting.md; each rank's account and the critical path of
// the cluster follow it back from op to op.
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
  // Both outlive this; the timeline has a time for each op of the program.
  OpCauses(const Program& program, const RankTimeline& timeline);

  // Always an earlier op of the program; kNoCause: the op waited for nothing.
  uint32_t Of(uint32_t op) const;
  // kNoCause of a program without ops.
  uint32_t LastToEnd() const;

 private:
  bool EndsLater(uint32_t a, uint32_t b) const;
  void FindHostWaits();

  const Program& program_;
  const RankTimeline& timeline_;
  std::vector<uint32_t> previous_in_stream_;
  std::vector<uint32_t> host_waited_;  // by op: what the host last waited for before it issued it
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_OP_CAUSES_H_
