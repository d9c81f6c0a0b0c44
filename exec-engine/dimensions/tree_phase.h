// An all-reduce over one of ASTRA-sim's two binary trees: sums go up, the result comes down. All
// NPUs but one are the nodes of a perfect tree, numbered from left to right. The last NPU of the
// ring (or the first) is the root above that tree.
#ifndef DRYDOCK_EXEC_ENGINE_DIMENSIONS_TREE_PHASE_H_
#define DRYDOCK_EXEC_ENGINE_DIMENSIONS_TREE_PHASE_H_

#include "exec-engine/dimensions/chunk_phase.h"

namespace drydock {

class TreePhase final : public ChunkPhase {
 public:
  TreePhase(const PhasePlan& plan, Carrier* carrier);
  void Begin() override;
  void OnPassed() override;
  void OnReceived() override;

 private:
  enum class State : uint8_t { kChildren, kUp, kParent, kDown };
  bool is_root() const { return parent_ < 0; }
  void SendUp();
  void SendDown();

  Carrier* carrier_;
  int64_t bytes_;
  int parent_ = -1, left_ = -1, right_ = -1;  // NPUs
  int awaited_ = 0;                           // children whose sums have not arrived
  int unpassed_ = 0;                          // packets at the endpoint
  State state_ = State::kChildren;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_TREE_PHASE_H_
