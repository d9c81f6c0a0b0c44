#include "report/facts/messages.h"

#include <algorithm>
#include <tuple>

namespace drydock {
namespace {

struct NamedEnd {
  int sender = 0;
  int receiver = 0;
  int32_t tag = 0;
  int64_t sequence = 0;
  MessageEnd end;
  auto key() const { return std::tie(sender, receiver, tag, sequence); }
};

NamedEnd EndOf(const Inputs& inputs, int rank, size_t i) {
  const Op& op = inputs.program_of(rank).ops[i];
  const RankTimeline& times = inputs.timeline_of(rank);
  const CommCall& call = inputs.workload.calls[op.work];
  const Group& group = inputs.workload.groups[static_cast<size_t>(inputs.group_of(rank, op))];
  return {group.ranks[static_cast<size_t>(call.root)],
          group.ranks[static_cast<size_t>(call.peer)],
          op.tag,
          0,
          {rank, op.stream, times.ready[i], times.end[i]}};
}

// Numbers the messages of each sender, receiver and tag in program order, and sorts.
void Number(std::vector<NamedEnd>* ends) {
  std::stable_sort(ends->begin(), ends->end(),
                   [](const NamedEnd& a, const NamedEnd& b) { return a.key() < b.key(); });
  for (size_t i = 1; i < ends->size(); ++i) {
    const NamedEnd& before = (*ends)[i - 1];
    NamedEnd& end = (*ends)[i];
    const bool same = std::tie(before.sender, before.receiver, before.tag) ==
                      std::tie(end.sender, end.receiver, end.tag);
    end.sequence = same ? before.sequence + 1 : 0;
  }
}

}  // namespace

std::vector<SentMessage> MessagesBetween(const Inputs& inputs, const std::vector<int>& ranks) {
  std::vector<NamedEnd> sends, receives;
  for (const int rank : ranks) {
    const Program& program = inputs.program_of(rank);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      if (program.ops[i].kind == OpKind::kSend) sends.push_back(EndOf(inputs, rank, i));
      if (program.ops[i].kind == OpKind::kRecv) receives.push_back(EndOf(inputs, rank, i));
    }
  }
  Number(&sends);
  Number(&receives);
  std::vector<SentMessage> out;
  auto receive = receives.begin();
  for (const NamedEnd& send : sends) {
    while (receive != receives.end() && receive->key() < send.key()) ++receive;
    if (receive == receives.end()) break;
    if (receive->key() == send.key()) out.push_back({send.end, receive->end});
  }
  return out;
}

}  // namespace drydock
