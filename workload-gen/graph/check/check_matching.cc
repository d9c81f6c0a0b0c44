// Checks that the members of a group make matching calls. Each group class (rank_classes.h) is
// checked once, in its first group. A member makes the calls of its rank class.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/model/calls/call_numbers.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "workload-gen/graph/check/check_steps.h"

namespace drydock {
namespace {

// The calls that one rank makes in one communicator.
struct GroupCalls {
  std::vector<uint32_t> collectives;                // ops, in order
  std::unordered_map<uint64_t, uint32_t> messages;  // number (call_numbers.h) -> op
  std::vector<uint64_t> in_order;                   // the messages' numbers
};

class Matching {
 public:
  Matching(const Workload& workload, const RankClasses& classes,
           const std::vector<ClassProgram>& programs, CheckReport* report)
      : w_(workload), classes_(classes), programs_(programs), report_(report) {
    for (size_t c = 0; c < programs.size(); ++c) calls_.push_back(CallsOf(c));
  }

  void Run() {
    std::vector<int> first_group(classes_.groups.size(), -1);
    for (size_t g = classes_.class_of_group.size(); g-- > 0;) {
      const int known = classes_.class_of_group[g];
      if (known >= 0) first_group[static_cast<size_t>(known)] = static_cast<int>(g);
    }
    for (size_t group_class = 0; group_class < first_group.size(); ++group_class) {
      const std::vector<Example> examples = Examples(group_class, first_group[group_class]);
      Collectives(first_group[group_class], examples);
      Messages(first_group[group_class], examples);
    }
  }

 private:
  // The first member of a member class in the group, and its calls; null if it makes none.
  struct Example {
    int rank = -1;
    int position = -1;
    const GroupCalls* calls = nullptr;
  };

  const Program& ProgramOf(int rank) const {
    return w_.programs[static_cast<size_t>(w_.class_of_rank[static_cast<size_t>(rank)])];
  }
  const Op& OpOf(int rank, uint32_t op) const { return ProgramOf(rank).ops[op]; }
  const CommCall& CallOf(int rank, uint32_t op) const { return w_.calls[OpOf(rank, op).work]; }
  int GroupOf(size_t role, int rank) const {
    return w_.group_of_rank[role][static_cast<size_t>(rank)];
  }
  void Add(std::string text) { report_->violations.Add(std::move(text)); }

  // By group of the class's first rank.
  std::map<int, GroupCalls> CallsOf(size_t c) const {
    std::map<int, GroupCalls> calls;
    const ClassProgram& program = programs_[c];
    for (uint32_t i = 0; i < program.program->ops.size(); ++i) {
      const Op& op = program.program->ops[i];
      if (!IsCommunication(op.kind)) continue;
      GroupCalls& own = calls[GroupOf(op.role, classes_.first_rank[c])];
      if (program.number[i] % 2 == 0) {
        own.collectives.push_back(i);
      } else {
        own.messages.emplace(program.number[i], i);
        own.in_order.push_back(program.number[i]);
      }
    }
    return calls;
  }

  std::vector<Example> Examples(size_t group_class, int group) const {
    const std::vector<MemberClass>& members = classes_.groups[group_class].members;
    std::vector<Example> examples(members.size());
    const std::vector<int>& ranks = w_.groups[static_cast<size_t>(group)].ranks;
    for (size_t m = 0; m < ranks.size(); ++m) {
      const auto rank_class =
          static_cast<size_t>(classes_.class_of_rank[static_cast<size_t>(ranks[m])]);
      for (size_t s = 0; s < members.size(); ++s) {
        Example& example = examples[s];
        if (static_cast<size_t>(members[s].rank_class) != rank_class || example.rank >= 0) continue;
        if (members[s].position >= 0 && members[s].position != static_cast<int>(m)) continue;
        if (!HasRoles(members[s], ranks[m], group)) continue;
        example = {ranks[m], static_cast<int>(m), nullptr};
        if (members[s].roles.empty()) continue;
        const int own =
            GroupOf(static_cast<size_t>(members[s].roles.front()), classes_.first_rank[rank_class]);
        const auto found = calls_[rank_class].find(own);
        if (found != calls_[rank_class].end()) example.calls = &found->second;
      }
    }
    return examples;
  }

  // Returns whether the rank is in the group by the roles of the member class.
  bool HasRoles(const MemberClass& member, int rank, int group) const {
    return std::all_of(member.roles.begin(), member.roles.end(),
                       [&](int role) { return GroupOf(static_cast<size_t>(role), rank) == group; });
  }

  std::string Where(int group) const {
    return fmt::format("group {} (ranks {})", group,
                       RanksText(w_.groups[static_cast<size_t>(group)].ranks));
  }

  // The n-th collective of each member equals the n-th collective of the first member.
  void Collectives(int group, const std::vector<Example>& examples) {
    const Example* longest = nullptr;
    for (const Example& example : examples) {
      if (example.calls == nullptr) continue;
      if (longest == nullptr ||
          example.calls->collectives.size() > longest->calls->collectives.size()) {
        longest = &example;
      }
    }
    if (longest == nullptr) return;
    report_->collectives += longest->calls->collectives.size();
    static const std::vector<uint32_t> kNothing;
    for (const Example& example : examples) {
      if (&example == longest || example.rank < 0) continue;
      Compare(group, *longest, example,
              example.calls == nullptr ? kNothing : example.calls->collectives);
    }
  }

  // Reports only the first difference, because later calls no longer line up.
  void Compare(int group, const Example& longest, const Example& other,
               const std::vector<uint32_t>& ops) {
    const std::vector<uint32_t>& wanted = longest.calls->collectives;
    for (size_t n = 0; n < ops.size(); ++n) {
      const CommCall& a = CallOf(longest.rank, wanted[n]);
      const CommCall& b = CallOf(other.rank, ops[n]);
      if (a == b) continue;
      Add(fmt::format("collective {} of {}: {} is {}, {} is {}", n, Where(group),
                      OpPlace(w_, longest.rank, wanted[n]), NameOf(a),
                      OpPlace(w_, other.rank, ops[n]), NameOf(b)));
      return;
    }
    if (ops.size() == wanted.size()) return;
    Add(fmt::format("{}, {}, never ends: rank {} makes {} of the {} collectives of {}",
                    OpPlace(w_, longest.rank, wanted[ops.size()]),
                    NameOf(CallOf(longest.rank, wanted[ops.size()])), other.rank, ops.size(),
                    wanted.size(), Where(group)));
  }

  void Messages(int group, const std::vector<Example>& examples) {
    std::map<int, const Example*> at;  // by position: where there are messages, positions count
    for (const Example& example : examples) {
      if (example.rank >= 0) at[example.position] = &example;
    }
    for (const Example& example : examples) {
      if (example.calls == nullptr) continue;
      for (const uint64_t number : example.calls->in_order) {
        const uint32_t op = example.calls->messages.at(number);
        report_->messages += IsPointToPoint(OpOf(example.rank, op)) ? 1 : 0;
        MessageOf(group, example, number, op, at);
      }
      CheckOrder(example, at);
    }
  }

  // Checks that the other members make the call too. Of two that differ, the lower rank reports.
  void MessageOf(int group, const Example& own, uint64_t number, uint32_t op,
                 const std::map<int, const Example*>& at) {
    const CommCall& call = CallOf(own.rank, op);
    for (const auto& [position, other] : at) {
      if (position == own.position || !TakesPart(call, position)) continue;
      const uint32_t partner = Partner(*other, number);
      if (partner == kNone) {
        Missing(group, own, op, *other);
        continue;
      }
      const CommCall& there = CallOf(other->rank, partner);
      if (there == call || other->rank < own.rank) continue;
      Add(fmt::format("{} and {} do not match: {} and {} in {}", OpPlace(w_, own.rank, op),
                      OpPlace(w_, other->rank, partner), NameOf(call), NameOf(there),
                      Where(group)));
    }
  }

  // Returns the op of that number, or kNone if the member makes no such call.
  static uint32_t Partner(const Example& example, uint64_t number) {
    if (example.calls == nullptr) return kNone;
    const auto found = example.calls->messages.find(number);
    return found == example.calls->messages.end() ? kNone : found->second;
  }

  void Missing(int group, const Example& own, uint32_t op, const Example& other) {
    const Op& own_op = OpOf(own.rank, op);
    const CommCall& call = CallOf(own.rank, op);
    if (!IsPointToPoint(own_op)) {
      Add(fmt::format("{}, {}: rank {} never makes it in {}", OpPlace(w_, own.rank, op),
                      NameOf(call), other.rank, Where(group)));
      return;
    }
    const bool sends = own_op.kind == OpKind::kSend;
    Add(fmt::format("{}, {} with tag {}: rank {} has no {} for it in {}{}",
                    OpPlace(w_, own.rank, op), ToString(call.bytes()), own_op.tag, other.rank,
                    sends ? "receive" : "send", Where(group),
                    UnmatchedTags(own, call, sends, other)));
  }

  // "; its receives without a send have tag 3, 4".
  std::string UnmatchedTags(const Example& own, const CommCall& call, bool sends,
                            const Example& other) const {
    if (other.calls == nullptr) return "";
    std::string tags;
    int shown = 0;
    for (const uint64_t number : other.calls->in_order) {
      const uint32_t op = other.calls->messages.at(number);
      const CommCall& there = CallOf(other.rank, op);
      if (there.root != call.root || there.peer != call.peer || own.calls->messages.count(number)) {
        continue;
      }
      if (++shown > 4) break;
      tags += fmt::format("{}{}", shown == 1 ? "" : ", ", OpOf(other.rank, op).tag);
    }
    if (shown == 0) return "";
    return fmt::format("; {} without {} there have tag {}", sends ? "receives" : "sends",
                       sends ? "a send" : "a receive", tags);
  }

  // NCCL has no tags: messages between two streams arrive in the order of sending.
  void CheckOrder(const Example& sender, const std::map<int, const Example*>& at) {
    struct Last {
      uint32_t sent = 0, received = 0;
    };
    std::map<std::tuple<int, uint8_t, uint8_t>, Last> last;  // receiver, streams of both
    for (const uint64_t number : sender.calls->in_order) {
      const uint32_t sent = sender.calls->messages.at(number);
      const Op& op = OpOf(sender.rank, sent);
      if (op.kind != OpKind::kSend) continue;
      const auto receiver = at.find(CallOf(sender.rank, sent).peer);
      if (receiver == at.end()) continue;
      const uint32_t received = Partner(*receiver->second, number);
      if (received == kNone) continue;
      const int rank = receiver->second->rank;
      const auto key = std::tuple(rank, op.stream, OpOf(rank, received).stream);
      const auto [entry, added] = last.try_emplace(key, Last{sent, received});
      if (!added && received < entry->second.received) {
        Add(
            fmt::format("{} is sent after op {}, and {} received before op {}: NCCL has no tags "
                        "and would mistake one for the other",
                        OpPlace(w_, sender.rank, sent), entry->second.sent,
                        OpPlace(w_, rank, received), entry->second.received));
        continue;
      }
      entry->second = {sent, received};
    }
  }

  const Workload& w_;
  const RankClasses& classes_;
  const std::vector<ClassProgram>& programs_;
  CheckReport* report_;
  std::vector<std::map<int, GroupCalls>> calls_;  // by class
};

}  // namespace

void CheckMatching(const Workload& workload, const RankClasses& classes,
                   const std::vector<ClassProgram>& programs, CheckReport* report) {
  Matching(workload, classes, programs, report).Run();
}

}  // namespace drydock
