#include "exec-engine/dimensions/chunk_phase.h"

#include <algorithm>
#include <bit>
#include <deque>

#include "exec-engine/dimensions/tree_phase.h"

namespace drydock {
namespace {

int Log2(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

// Ring, direct and halving-doubling differ in the number, the receivers and the sizes of their
// messages. A received packet becomes the next one to send.
class ExchangePhase : public ChunkPhase {
 public:
  ExchangePhase(const PhasePlan& plan, Carrier* carrier) : plan_(plan), carrier_(carrier) {}

  void Begin() override {
    for (int i = 0; i < window_; ++i) Insert();
  }
  void OnReceived() override {
    ++received_;
    Insert();
  }
  void OnPassed() override {
    ++passed_;
    SendNext();
    CheckDone();
  }

 protected:
  struct Packet {
    int to = 0, from = 0;  // receiver, and sender of the message expected next
    int64_t bytes = 0;
  };
  // Returns the next packet.
  virtual Packet Next() = 0;

  bool Sums() const {
    return plan_.type == CollectiveType::kReduceScatter ||
           (plan_.type == CollectiveType::kAllReduce && first_round_);
  }

  // Packets form rounds. In each, `window_` packets only pass the endpoint, and `others_` follow,
  // which are summed in the first round of an all-reduce.
  void Insert() {
    if (plain_left_ == 0 && others_left_ == 0) {
      plain_left_ = window_;
      others_left_ = others_;
      first_round_ = !first_round_;
    }
    const bool plain = plain_left_ > 0;
    --(plain ? plain_left_ : others_left_);
    packets_.push_back(Next());
    carrier_->Pass(packets_.back().bytes, !plain && Sums());
  }

  void SendNext() {
    if (packets_.empty() || sends_left_ == 0 || passed_ == 0) return;
    const Packet packet = packets_.front();
    packets_.pop_front();
    --sends_left_;
    --passed_;
    carrier_->Send(packet.to, packet.bytes);
    carrier_->Expect(packet.from, packet.bytes);
  }

  void CheckDone() { done_ |= sends_left_ == 0 && passed_ == window_; }

  const PhasePlan plan_;
  Carrier* const carrier_;
  int window_ = 1;
  int64_t sends_left_ = 0;
  int64_t others_ = 0;  // packets of a round after its first `window_` packets
  int64_t received_ = 0;
  int64_t passed_ = 0;  // packets that may be sent

 private:
  int64_t plain_left_ = 0, others_left_ = 0;
  bool first_round_ = false;
  std::deque<Packet> packets_;
};

class RingPhase final : public ExchangePhase {
 public:
  RingPhase(const PhasePlan& plan, Carrier* carrier) : ExchangePhase(plan, carrier) {
    const int64_t n = plan.ring.size;
    const bool whole = plan.type == CollectiveType::kAllGather;
    packet_ = {plan.ring.NpuAt(plan.position + 1), plan.ring.NpuAt(plan.position - 1),
               whole ? plan.bytes : plan.bytes / n};
    others_ = n - 1;
    sends_left_ = n - 1;
    if (plan.type == CollectiveType::kAllReduce) sends_left_ = 2 * (n - 1);
    if (plan.type == CollectiveType::kAllToAll) sends_left_ = n * (n - 1) / 2;
  }

 private:
  Packet Next() override { return packet_; }
  Packet packet_;
};

// Sends to the next NPU, to the NPU after it, and so on, several at a time.
class DirectPhase final : public ExchangePhase {
 public:
  DirectPhase(const PhasePlan& plan, Carrier* carrier) : ExchangePhase(plan, carrier) {
    const int others = plan.ring.size - 1;
    window_ = plan.rule.window == 0 ? others : std::min(plan.rule.window, others);
    others_ = window_;
    const bool twice = plan.type == CollectiveType::kAllReduce;
    sends_left_ = twice ? 2 * others : others;
    const bool whole = plan.type == CollectiveType::kAllGather;
    bytes_ = whole ? plan.bytes : plan.bytes / plan.ring.size;
  }

  // The second half of an all-reduce begins when the first half has arrived completely.
  void OnPassed() override {
    const int others = plan_.ring.size - 1;
    if (plan_.type != CollectiveType::kAllReduce || sends_left_ > others) {
      return ExchangePhase::OnPassed();
    }
    ++passed_;
    if (received_ < others) return;
    for (int i = 0; i < window_; ++i) SendNext();
    CheckDone();
  }

 private:
  Packet Next() override {
    step_ = step_ % (plan_.ring.size - 1) + 1;
    return {plan_.ring.NpuAt(plan_.position + step_), plan_.ring.NpuAt(plan_.position - step_),
            bytes_};
  }
  int64_t bytes_ = 0;
  int step_ = 0;
};

// Exchanges with the neighbor, then at distance two, then four, each time half as many bytes. An
// all-gather runs in the reverse order, an all-reduce in both.
class HalvingDoublingPhase final : public ExchangePhase {
 public:
  HalvingDoublingPhase(const PhasePlan& plan, Carrier* carrier) : ExchangePhase(plan, carrier) {
    const int steps = Log2(plan.ring.size);
    others_ = steps - 1;
    sends_left_ = plan.type == CollectiveType::kAllReduce ? 2 * steps : steps;
    grows_ = plan.type == CollectiveType::kAllGather;
    distance_ = grows_ ? plan.ring.size / 2 : 1;
    bytes_ = grows_ ? plan.bytes : plan.bytes / 2;
  }

 private:
  Packet Next() override {
    const int side = distance_ > 0 && plan_.position / distance_ % 2 == 1 ? -1 : 1;
    const int partner = plan_.ring.NpuAt(plan_.position + int64_t{side} * distance_);
    const Packet packet = {partner, partner, bytes_};
    Step();
    if (distance_ == plan_.ring.size && plan_.type == CollectiveType::kAllReduce) {
      grows_ = true;
      Step();
    }
    return packet;
  }
  void Step() {
    distance_ = grows_ ? distance_ / 2 : distance_ * 2;
    bytes_ = grows_ ? bytes_ * 2 : bytes_ / 2;
  }
  bool grows_ = false;
  int distance_ = 1;
  int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<ChunkPhase> MakeChunkPhase(const PhasePlan& plan, ChunkPhase::Carrier* carrier) {
  switch (plan.rule.algorithm) {
    case DimensionAlgorithm::kRing:
      return std::make_unique<RingPhase>(plan, carrier);
    case DimensionAlgorithm::kDirect:
      return std::make_unique<DirectPhase>(plan, carrier);
    case DimensionAlgorithm::kHalvingDoubling:
      return std::make_unique<HalvingDoublingPhase>(plan, carrier);
    case DimensionAlgorithm::kDoubleBinaryTree:
      return std::make_unique<TreePhase>(plan, carrier);
  }
  return nullptr;
}

}  // namespace drydock
