#include "exec-engine/dimensions/tree_phase.h"

#include <bit>

namespace drydock {

TreePhase::TreePhase(const PhasePlan& plan, Carrier* carrier)
    : carrier_(carrier), bytes_(plan.bytes) {
  const int n = plan.ring.size;
  const int shift =
      plan.root_is_first ? 0 : -1;  // from a node's number (1 to n - 1) to its position
  const auto npu = [&](int node) { return plan.ring.NpuAt(node + shift); };
  const int node = plan.position - shift;
  const bool root = plan.root_is_first ? node == 0 : node == n;
  if (root) {
    left_ = npu(n / 2);
    return;
  }
  // The lowest set bit gives a node's height, the bit above it the side of its parent.
  const int height = std::countr_zero(static_cast<unsigned>(node));
  const int below = 1 << height;
  const bool top = node == n / 2;
  parent_ = top ? plan.ring.NpuAt(plan.root_is_first ? 0 : n - 1)
                : npu((node >> (height + 1)) % 2 == 1 ? node - below : node + below);
  if (height == 0) return;
  left_ = npu(node - below / 2);
  right_ = npu(node + below / 2);
}

void TreePhase::Begin() {
  for (const int child : {left_, right_}) {
    if (child < 0) continue;
    ++awaited_;
    carrier_->Expect(child, bytes_);
  }
  if (awaited_ > 0) return;
  state_ = State::kUp;
  ++unpassed_;
  carrier_->Pass(bytes_, /*sums=*/false);
}

void TreePhase::OnReceived() {
  ++unpassed_;
  if (state_ == State::kParent) {
    state_ = State::kDown;
    // ASTRA-sim charges a sum here as well, except at the leaves.
    return carrier_->Pass(bytes_, /*sums=*/left_ >= 0);
  }
  if (--awaited_ == 0) state_ = is_root() ? State::kDown : State::kUp;
  carrier_->Pass(bytes_, /*sums=*/true);
}

void TreePhase::OnPassed() {
  if (--unpassed_ > 0 || state_ == State::kChildren) return;
  if (state_ == State::kUp) return SendUp();
  SendDown();
}

void TreePhase::SendUp() {
  state_ = State::kParent;
  carrier_->Send(parent_, bytes_);
  carrier_->Expect(parent_, bytes_);
}

void TreePhase::SendDown() {
  if (left_ >= 0) carrier_->Send(left_, bytes_);
  if (right_ >= 0) carrier_->Send(right_, bytes_);
  done_ = true;
}

}  // namespace drydock
