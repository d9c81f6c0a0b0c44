#include "exec-engine/transfer/transfer_engine.h"

namespace drydock {

Transfer* TransferEngine::Begin(const LocalPlan* plan, CallKey key) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Transfer>(static_cast<uint32_t>(pool_.size()) + 1));
    free_.push_back(pool_.back().get());
  }
  Transfer* transfer = free_.back();
  free_.pop_back();
  transfer->Begin(plan, key);
  return transfer;
}

void TransferEngine::GiveBack(Transfer* transfer) {
  transfer->key_ = kNoCall;
  free_.push_back(transfer);
}

void TransferEngine::Forget(Transfer* transfer) {
  events_.Forget(transfer);
  GiveBack(transfer);
}

TransferEngine::Place TransferEngine::Find(uint32_t place, CallKey key) const {
  const auto [number, connection] = TransferPlace::Unpack(place);
  if (number == 0) return {};
  Transfer* transfer = pool_[number - 1].get();
  if (transfer->key_ != key) return {};
  return {transfer, connection};
}

void TransferEngine::Reset() {
  events_.clear();
  ports_.Reset();
}

void TransferEngine::AppendState(RelativeState* out) const {
  ports_.AppendState(out);
  for (const TransferEvent& event : events_.Sorted()) {
    out->AddTime(event.time);
    out->AddCall(event.key);
    out->Add(static_cast<int64_t>(event.Part()));
  }
}

void TransferEngine::RunNext() {
  const TransferEvent event = events_.Pop();
  switch (event.kind) {
    case TransferEvent::Kind::kSlice:
      return blocks_.RunSlice(event.transfer, event.index, event.time);
    case TransferEvent::Kind::kFilled:
      return proxy_.OnFilled(event.transfer, event.index, event.time);
    case TransferEvent::Kind::kLaunch:
      return proxy_.Launch(event.transfer, event.index, event.time);
    case TransferEvent::Kind::kCredit:
      return proxy_.GiveCredit(event.transfer, event.index, event.time);
    case TransferEvent::Kind::kLooped:
      return proxy_.EndLoop(event.transfer, event.index, event.time);
  }
}

}  // namespace drydock
