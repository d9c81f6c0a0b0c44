#include "simccl/call_promise.h"

#include "core/base/check.h"

namespace drydock {
namespace {

using Kind = Promise::Kind;

SymbolRun SumOfInputs(const CommCall& call, int64_t count) {
  SymbolRun sum = {count, 0, 0};
  for (int m = 0; m < call.group_size; ++m) {
    const SymbolRun input = InputOf(m, 0, count);
    sum.first += input.first;
    sum.step += input.step;
  }
  return sum;
}

Promise Data(const SymbolRun& data) { return {Kind::kData, data}; }
Promise Untouched(int64_t count) { return {Kind::kUntouched, {count}}; }
Promise Anything(int64_t count) { return {Kind::kAnything, {count}}; }

// The larger buffer, of one equal part a member.
Promise PartPromise(const CommCall& call, int member, int of) {
  const int64_t part = call.count / call.group_size;
  const int64_t at = of * part;
  // In place, the root's own part is not moved.
  const bool is_there = call.in_place && member == call.root && of == member;
  switch (call.collective) {
    case CollectiveType::kReduceScatter:
      // Elsewhere it may keep sums that are not complete.
      return of == member ? Data(SumOfInputs(call, call.count).Part(at, part)) : Anything(part);
    case CollectiveType::kAllGather:
      return Data(InputOf(of, at, part));
    case CollectiveType::kAllToAll:
      return Data(InputOf(of, member * part, part));
    case CollectiveType::kGather:
      if (member != call.root) return Untouched(part);
      return is_there ? Anything(part) : Data(InputOf(of, at, part));
    case CollectiveType::kScatter:
      if (of != member) return Untouched(part);
      return is_there ? Anything(part) : Data(InputOf(call.root, at, part));
    default:
      break;
  }
  CHECK(false);
}

Promise WholePromise(const CommCall& call, int member) {
  switch (call.collective) {
    case CollectiveType::kAllReduce:
      return Data(SumOfInputs(call, call.count));
    case CollectiveType::kReduce:
      return member == call.root ? Data(SumOfInputs(call, call.count)) : Untouched(call.count);
    case CollectiveType::kBroadcast:
      return Data(InputOf(call.root, 0, call.count));
    case CollectiveType::kSendRecv:
      return member == call.peer ? Data(InputOf(call.root, 0, call.count)) : Untouched(call.count);
    default:
      break;
  }
  CHECK(false);
}

}  // namespace

std::vector<Promise> PromisesOf(const CommCall& call, int member) {
  std::vector<Promise> promises;
  if (call.collective == CollectiveType::kAllToAllV) {
    const SymbolData received = ReceivedFromAll(call, member);
    for (const SymbolRun& run : received.runs()) promises.push_back(Data(run));
    promises.push_back(Untouched(call.count - received.size()));
  } else if (HasParts(call.collective)) {
    for (int of = 0; of < call.group_size; ++of) promises.push_back(PartPromise(call, member, of));
  } else {
    promises.push_back(WholePromise(call, member));
  }
  return promises;
}

SymbolRun OwnInput(const CommCall& call, int member, int64_t at, int64_t count) {
  if (call.collective == CollectiveType::kAllGather || call.collective == CollectiveType::kGather) {
    const int64_t part = call.count / call.group_size;
    const int64_t begin = member * part;
    if (at < begin || at + count > begin + part) return {count, 0, 0};
  }
  return InputOf(member, at, count);
}

SymbolData ReceivedFromAll(const CommCall& call, int member) {
  const auto count = [&call](int from, int to) {
    return call.pair_counts[static_cast<size_t>(from * call.group_size + to)];
  };
  SymbolData received;
  for (int from = 0; from < call.group_size; ++from) {
    int64_t sent_at = 0;
    for (int to = 0; to < member; ++to) sent_at += count(from, to);
    received.Append(InputOf(from, sent_at, count(from, member)));
  }
  return received;
}

}  // namespace drydock
