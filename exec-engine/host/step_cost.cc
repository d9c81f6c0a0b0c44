#include "exec-engine/host/step_cost.h"

namespace drydock {
namespace {

Bandwidth RateOf(const Step& step, const CollectiveCosts::Protocol& costs, Bandwidth local_copy) {
  const bool receives = step.receive.count > 0, sends = step.send.count > 0;
  if (!receives && !sends) return local_copy;
  if (!sends) return costs.receive;
  if (receives && step.reduce) return costs.reduce_send;
  return receives || step.store ? costs.copy_send : costs.send;
}

// Returns true if there are operands and none of them has one of these letters of Handling.
bool NoneIs(std::string_view handling, Slots operands, std::string_view letters) {
  return operands.count > 0 &&
         handling.substr(operands.begin, operands.count).find_first_of(letters) == handling.npos;
}

// A step of a token exchange costs the sender alone, whose program stands for all SMs of the
// kernel; so does the copy of its own tokens. Receivers read tokens where they arrive.
ByteCost TokenCost(const Step& step, const Work& work) {
  if (step.receive.count > 0) return ByteCost();
  return ByteCost(Bandwidth::BitsPerSecond(work.rate.bits_per_second() * work.channels));
}

}  // namespace

bool IsNvls(Algorithm algorithm) {
  return algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree;
}

const CollectiveCosts::Protocol& CostsOf(const Work& work, const CollectiveCosts& costs) {
  if (IsNvls(work.algorithm)) return work.registered ? costs.nvls_registered : costs.nvls;
  if (work.algorithm == Algorithm::kCopyEngine) return costs.copy_engine;
  if (work.algorithm == Algorithm::kUserBuffers) return costs.userbuffers;
  static const CollectiveCosts::Protocol none;
  if (ExchangesTokens(work.algorithm)) return none;  // the work states its costs
  if (work.algorithm == Algorithm::kSendRecv) {
    return work.protocol == Protocol::kLl ? costs.p2p_ll : costs.p2p_simple;
  }
  switch (work.protocol) {
    case Protocol::kLl:
      return costs.ll;
    case Protocol::kLl128:
      return costs.ll128;
    case Protocol::kSimple:
      break;
  }
  return costs.simple;
}

Handling HandlingOf(const Connection& connection, Algorithm algorithm) {
  if (algorithm == Algorithm::kCustom && connection.from == connection.to) return Handling::kOwn;
  if (!connection.direct) return Handling::kBuffered;
  const bool fetched = algorithm == Algorithm::kSendRecv || algorithm == Algorithm::kUserBuffers;
  if (connection.link == LinkKind::kPeerRead && fetched) return Handling::kFetched;
  const bool others = connection.link == LinkKind::kNet || connection.link == LinkKind::kNvls;
  return others ? Handling::kOffloaded : Handling::kDirect;
}

ByteCost CostOf(const Step& step, const Work& work, const GpuSpec& gpu, std::string_view handling) {
  const CollectiveCosts::Protocol& costs = CostsOf(work, gpu.collectives);
  // A local copy reads and writes the memory, half of its bandwidth each.
  const Bandwidth local_copy = Bandwidth::BitsPerSecond(gpu.memory_bandwidth.bits_per_second() / 2);
  if (ExchangesTokens(work.algorithm)) return TokenCost(step, work);
  const ByteCost buffered(RateOf(step, costs, local_copy));
  // NVLS: a head itself moves what it reduces or multicasts. A member has a single operand.
  const bool heads = IsNvls(work.algorithm) && step.receive.count + step.send.count > 1;
  if (handling.empty() || step.reduce || heads) return buffered;
  const bool receives_direct = NoneIs(handling, step.receive, "bfm");
  const bool sends_offloaded = NoneIs(handling, step.send, "bd");
  if (!receives_direct && !sends_offloaded) return buffered;
  const bool copies_out = step.receive.count > 0 ? !receives_direct : step.store;
  if (step.send.count > 0 && !sends_offloaded) {
    return ByteCost(step.receive.count > 0 ? costs.copy_send : costs.send);
  }
  return copies_out ? ByteCost(costs.receive) : ByteCost();
}

}  // namespace drydock
