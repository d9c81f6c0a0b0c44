#include "core/model/deadlock/deadlock_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"

namespace drydock {
namespace {

constexpr size_t kLinesShown = 16;

class Chain {
 public:
  Chain(const Workload& workload, const RankClasses& classes,
        const std::vector<ClassProgram>& programs, const std::vector<std::vector<OpState>>& states,
        const AwaitedMember& awaits)
      : w_(workload), classes_(classes), programs_(programs), states_(states), awaits_(awaits) {}

  Error Follow() {
    Link at = First();
    std::map<std::pair<int, uint32_t>, size_t> seen;  // (rank, op) -> index in links
    std::vector<Link> links;
    for (;;) {
      const auto [entry, added] = seen.emplace(std::pair(at.rank, at.op), links.size());
      if (!added) {
        links.erase(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(entry->second));
        return Error(
            "the communication cannot finish: these calls wait for each other in a cycle" +
            Text(links));
      }
      at.waits_for = MissingMember(at);
      links.push_back(at);
      const uint32_t awaited = OpOn(at.waits_for, at);
      if (awaited == kNone) {
        return Error(fmt::format(
            "the communication cannot finish: rank {} never makes a call that others wait in{}",
            at.waits_for, Text(links)));
      }
      at = {at.waits_for, Holding(at.waits_for, awaited), -1};
    }
  }

 private:
  // A rank that has begun an op and waits for another rank.
  struct Link {
    int rank = 0;
    uint32_t op = 0;
    int waits_for = -1;
  };

  size_t ClassOf(int rank) const {
    return static_cast<size_t>(classes_.class_of_rank[static_cast<size_t>(rank)]);
  }
  const ClassProgram& ProgramOf(int rank) const { return programs_[ClassOf(rank)]; }
  OpState StateOf(int rank, uint32_t op) const { return states_[ClassOf(rank)][op]; }
  int GroupOf(int rank, const Op& op) const {
    return w_.group_of_rank[op.role][static_cast<size_t>(rank)];
  }

  // Returns the first rank's first op that has begun and not ended.
  Link First() const {
    for (int rank = 0; rank < w_.rank_count(); ++rank) {
      const std::vector<OpState>& states = states_[ClassOf(rank)];
      const auto begun = std::find(states.begin(), states.end(), OpState::kBegun);
      if (begun != states.end()) {
        return {rank, static_cast<uint32_t>(begun - states.begin()), -1};
      }
    }
    CHECK(false);
  }

  std::vector<size_t> RolesIn(int rank, int group) const {
    std::vector<size_t> roles;
    for (size_t role = 0; role < w_.roles.size(); ++role) {
      if (w_.group_of_rank[role][static_cast<size_t>(rank)] == group) roles.push_back(role);
    }
    return roles;
  }

  // Returns the op of `link`'s call on another member; kNone if that member never makes the call.
  uint32_t OpOn(int member, const Link& link) {
    const ClassProgram& program = ProgramOf(link.rank);
    const int group = GroupOf(link.rank, program.program->ops[link.op]);
    const ClassProgram& other = ProgramOf(member);
    auto& ops = ops_[{ClassOf(member), RolesIn(member, group)}];
    if (ops.empty()) {
      for (uint32_t i = 0; i < other.program->ops.size(); ++i) {
        const Op& op = other.program->ops[i];
        if (IsCommunication(op.kind) && GroupOf(member, op) == group) ops[other.number[i]] = i;
      }
    }
    const auto found = ops.find(program.number[link.op]);
    return found == ops.end() ? kNone : found->second;
  }

  // Returns the first member that the op waits for and that has not begun the call; one exists.
  int MissingMember(const Link& link) {
    const Op& op = ProgramOf(link.rank).program->ops[link.op];
    const int group = GroupOf(link.rank, op);
    const std::vector<int>& ranks = w_.groups[static_cast<size_t>(group)].ranks;
    const auto own =
        static_cast<int>(std::find(ranks.begin(), ranks.end(), link.rank) - ranks.begin());
    for (size_t m = 0; m < ranks.size(); ++m) {
      if (!awaits_(op.work, static_cast<uint32_t>(group), own, static_cast<int>(m))) continue;
      const uint32_t there = OpOn(ranks[m], link);
      if (there == kNone || StateOf(ranks[m], there) == OpState::kWaiting) return ranks[m];
    }
    CHECK(false);
  }

  // Returns the op that has begun on the rank and that `op` waits for.
  uint32_t Holding(int rank, uint32_t op) const {
    const ClassProgram& program = ProgramOf(rank);
    while (StateOf(rank, op) == OpState::kWaiting) {
      uint32_t before = program.previous[op];
      for (const uint32_t dependency : program.program->dependencies(op)) {
        const bool open = StateOf(rank, dependency) != OpState::kEnded;
        if (open && (before == kNone || StateOf(rank, before) == OpState::kEnded)) {
          before = dependency;
        }
      }
      CHECK(before != kNone && StateOf(rank, before) != OpState::kEnded);
      op = before;
    }
    return op;
  }

  std::string LinkText(const Link& link) const {
    const Op& op = ProgramOf(link.rank).program->ops[link.op];
    const std::vector<int>& ranks = w_.groups[static_cast<size_t>(GroupOf(link.rank, op))].ranks;
    const CommCall& call = w_.calls[op.work];
    const std::string what = op.kind == OpKind::kSend   ? "send of " + ToString(call.bytes())
                             : op.kind == OpKind::kRecv ? "receive of " + ToString(call.bytes())
                                                        : NameOf(call);
    return fmt::format("\n  rank {}, op {} ({} in '{}', ranks {}) waits for rank {}", link.rank,
                       link.op, what, w_.roles[op.role].name, RanksText(ranks), link.waits_for);
  }

  std::string Text(const std::vector<Link>& links) const {
    std::string text;
    for (size_t i = 0; i < links.size(); ++i) {
      if (i == kLinesShown / 2 && links.size() > kLinesShown) {
        const size_t left_out = links.size() - kLinesShown;
        text += fmt::format("\n  ... and {} more", left_out);
        i += left_out;
      }
      text += LinkText(links[i]);
    }
    return text;
  }

  const Workload& w_;
  const RankClasses& classes_;
  const std::vector<ClassProgram>& programs_;
  const std::vector<std::vector<OpState>>& states_;
  const AwaitedMember& awaits_;
  // (class, roles that are one group) -> number of a call -> op
  std::map<std::pair<size_t, std::vector<size_t>>, std::unordered_map<uint64_t, uint32_t>> ops_;
};

}  // namespace

Status CheckCallsMatch(const Workload& workload, const RankClasses& classes,
                       const std::vector<ClassProgram>& programs) {
  struct First {
    int rank = 0;
    uint32_t op = 0;
  };
  std::vector<std::unordered_map<uint64_t, First>> calls(classes.groups.size());
  for (size_t c = 0; c < programs.size(); ++c) {
    const int rank = classes.first_rank[c];
    const Program& program = *programs[c].program;
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (!IsCommunication(op.kind)) continue;
      const int group = workload.group_of_rank[op.role][static_cast<size_t>(rank)];
      const int group_class = classes.class_of_group[static_cast<size_t>(group)];
      const auto [entry, added] =
          calls[static_cast<size_t>(group_class)].emplace(programs[c].number[i], First{rank, i});
      if (added) continue;
      const First& first = entry->second;
      const uint32_t other =
          programs[static_cast<size_t>(classes.class_of_rank[static_cast<size_t>(first.rank)])]
              .program->ops[first.op]
              .work;
      if (other == op.work || workload.calls[other] == workload.calls[op.work]) continue;
      return Error(
          fmt::format("the members of a group do not make the same calls: op {} of rank {} is {}, "
                      "but op {} of rank {} is {} (role '{}')",
                      first.op, first.rank, NameOf(workload.calls[other]), i, rank,
                      NameOf(workload.calls[op.work]), workload.roles[op.role].name));
    }
  }
  return OkStatus();
}

Error DeadlockError(const Workload& workload, const RankClasses& classes,
                    const std::vector<ClassProgram>& programs,
                    const std::vector<std::vector<OpState>>& states, const AwaitedMember& awaits) {
  return Chain(workload, classes, programs, states, awaits).Follow();
}

}  // namespace drydock
