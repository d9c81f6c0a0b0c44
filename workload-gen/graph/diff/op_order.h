// What must have ended before each op of a program starts: its dependencies, the earlier ops of its
// stream, what the host has waited for, and all that these wait for.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_OP_ORDER_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_OP_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

class OpOrder {
 public:
  // `program` must outlive this object. Takes 4 bytes for each op and each stream with ops.
  explicit OpOrder(const Program& program);

  // Returns false if the order would take more than 2 GiB. Then no other function may be called.
  static bool IsSmall(const Program& program);

  // Chooses the ops that Nearest may return.
  void Choose(const std::vector<bool>& chosen);

  // Returns the chosen ops that must have ended before `op` starts, without those that must have
  // ended before another of them starts. Ascending.
  std::vector<uint32_t> NearestBefore(uint32_t op) const;
  // As NearestBefore, for the host's wait before it issues `op`; all that it has waited for.
  std::vector<uint32_t> NearestBeforeHost(uint32_t op) const;

 private:
  std::vector<uint32_t> Nearest(const uint32_t* clock) const;
  const uint32_t* ClockOf(uint32_t op) const { return &clocks_[size_t{op} * streams_]; }

  const Program& program_;
  size_t streams_ = 0;              // with ops
  std::vector<uint8_t> stream_of_;  // by stream of the workload, its number among those with ops
  // By op and stream: 1 + the last op of the stream that must have ended before the op starts; 0:
  // none.
  std::vector<uint32_t> clocks_;
  std::vector<uint32_t> host_clocks_;  // by wait of the host and stream
  std::vector<uint32_t> wait_ops_;     // by wait of the host: its op
  std::vector<uint32_t> last_chosen_;  // by op: 1 + the last chosen op of its stream up to it
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_OP_ORDER_H_
