#include "simccl/proof/expected_buffer.h"

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

using Kind = ExpectedBuffer::Kind;

CommCall InBytes(CommCall call) {
  const int64_t size = SizeOf(call.type).count();
  call.type = DataType::kUint8;
  call.count *= size;
  for (int64_t& count : call.pair_counts) count *= size;
  return call;
}

SymbolRun Input(const CallPart& part, int member, int64_t at, int64_t count) {
  return InputOf(member, part.begin + at, count);
}

SymbolRun SumOfInputs(const CallPart& part) {
  SymbolRun sum = {part.call.count, 0, 0};
  for (int m = 0; m < part.call.group_size; ++m) {
    const SymbolRun input = Input(part, m, 0, part.call.count);
    sum.first += input.first;
    sum.step += input.step;
  }
  return sum;
}

ExpectedBuffer Data(const SymbolRun& data) { return {Kind::kData, data}; }
ExpectedBuffer Untouched(int64_t count) { return {Kind::kUntouched, {count}}; }
ExpectedBuffer Anything(int64_t count) { return {Kind::kAnything, {count}}; }

// The stretch of member `of` in a buffer of one equal part per member.
ExpectedBuffer ExpectedPart(const CallPart& call_part, int member, int of) {
  const CommCall& call = call_part.call;
  const int64_t part = call.count / call.group_size;
  const int64_t at = of * part;
  // An in-place call leaves the root's own part where it is.
  const bool stays = call.in_place && member == call.root && of == member;
  switch (call.collective) {
    case CollectiveType::kReduceScatter:
      // The other parts may hold incomplete sums.
      return of == member ? Data(SumOfInputs(call_part).Part(at, part)) : Anything(part);
    case CollectiveType::kAllGather:
      return Data(Input(call_part, of, at, part));
    case CollectiveType::kAllToAll:
      return Data(Input(call_part, of, member * part, part));
    case CollectiveType::kGather:
      if (member != call.root) return Untouched(part);
      return stays ? Anything(part) : Data(Input(call_part, of, at, part));
    case CollectiveType::kScatter:
      if (of != member) return Untouched(part);
      return stays ? Anything(part) : Data(Input(call_part, call.root, at, part));
    default:
      break;
  }
  CHECK(false);
}

// The whole buffer of a call that does not divide into parts.
ExpectedBuffer ExpectedWhole(const CallPart& call_part, int member) {
  const CommCall& call = call_part.call;
  switch (call.collective) {
    case CollectiveType::kAllReduce:
      return Data(SumOfInputs(call_part));
    case CollectiveType::kReduce:
      return member == call.root ? Data(SumOfInputs(call_part)) : Untouched(call.count);
    case CollectiveType::kBroadcast:
      return Data(Input(call_part, call.root, 0, call.count));
    case CollectiveType::kSendRecv:
      return member == call.peer ? Data(Input(call_part, call.root, 0, call.count))
                                 : Untouched(call.count);
    default:
      break;
  }
  CHECK(false);
}

}  // namespace

std::vector<CallPart> CallPartsOf(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) return {{call, 0}};
  std::vector<CallPart> parts;
  const std::vector<int64_t> offsets = OffsetsOfParts(call);
  for (size_t p = 0; p < call.parts.size(); ++p) {
    parts.push_back({InBytes(call.parts[p]), offsets[p]});
  }
  return parts;
}

std::vector<ExpectedBuffer> ExpectedBuffersOf(const CallPart& part, int member) {
  const CommCall& call = part.call;
  std::vector<ExpectedBuffer> expected;
  if (call.collective == CollectiveType::kAllToAllV) {
    const SymbolData received = ReceivedFromAll(part, member);
    for (const SymbolRun& run : received.runs()) expected.push_back(Data(run));
    expected.push_back(Untouched(call.count - received.size()));
  } else if (HasParts(call.collective)) {
    for (int of = 0; of < call.group_size; ++of) expected.push_back(ExpectedPart(part, member, of));
  } else {
    expected.push_back(ExpectedWhole(part, member));
  }
  return expected;
}

SymbolRun OwnInput(const CallPart& part, int member, int64_t at, int64_t count) {
  const CommCall& call = part.call;
  if (call.collective == CollectiveType::kAllGather || call.collective == CollectiveType::kGather) {
    const int64_t of_member = call.count / call.group_size;
    const int64_t begin = member * of_member;
    if (at < begin || at + count > begin + of_member) return {count, 0, 0};
  }
  return Input(part, member, at, count);
}

SymbolData ReceivedFromAll(const CallPart& part, int member) {
  const CommCall& call = part.call;
  const auto count = [&call](int from, int to) {
    return call.pair_counts[static_cast<size_t>(from * call.group_size + to)];
  };
  SymbolData received;
  for (int from = 0; from < call.group_size; ++from) {
    int64_t sent_at = 0;
    for (int to = 0; to < member; ++to) sent_at += count(from, to);
    received.Append(Input(part, from, sent_at, count(from, member)));
  }
  return received;
}

}  // namespace drydock
