#include "core/model/deadlock/deadlock.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/calls/call_graph.h"
#include "core/model/calls/call_numbers.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_classes.h"
#include "core/model/deadlock/deadlock_report.h"
#include "core/model/deadlock/wait_sets.h"

namespace drydock {
namespace {

// The waits of the members of a group in one call, by group class.
struct CallWaits {
  bool all_members = true;
  // By member class, unless `all_members`: the classes that the class waits for.
  std::vector<std::vector<int>> members;
  size_t participants = 0;
  int64_t slices = 1, slots = 0;  // of a message
};

// A call that some members have begun.
struct Pending {
  std::vector<uint32_t> op_of_member;  // kNone: has not begun
  uint32_t begun = 0;                  // number of members
  std::vector<bool> ended;             // by member class
};

// Sends of one member to another whose receives have not begun.
struct Outbox {
  int64_t slices = 0;
  std::deque<std::pair<uint64_t, int64_t>> waiting;  // number of the call, slices
};

// Returns true if all participants of a call wait for one another.
bool WaitsForAllMembers(const WaitSets& sets, const CommCall& call) {
  return sets.all_members || call.collective == CollectiveType::kSendRecv || IsCyclicShift(call);
}

class Simulation {
 public:
  Simulation(const Workload& workload, const RankClasses& classes,
             std::vector<ClassProgram> programs, const std::vector<WaitSets>& waits,
             const FlowPlan& plan, UnplannedSends sends)
      : w_(workload),
        classes_(classes),
        programs_(std::move(programs)),
        waits_(waits),
        progress_(programs_.size()),
        pending_(classes.groups.size()),
        unplanned_slots_(sends == UnplannedSends::kEnd ? INT64_MAX : 0) {
    for (const FlowPlan::Assignment& use : plan.assignments) {
      const int group_class = classes.class_of_group[use.group];
      if (group_class >= 0) plan_of_[{use.call, group_class}] = use.plan;
    }
    outboxes_.resize(classes.groups.size());
    for (size_t c = 0; c < programs_.size(); ++c) {
      progress_[c].open = programs_[c].open;
      progress_[c].state.assign(programs_[c].program->ops.size(), OpState::kWaiting);
    }
  }

  // Returns false if an op never ends; States() shows which.
  bool Run() {
    for (uint32_t c = 0; c < programs_.size(); ++c) {
      for (uint32_t op = 0; op < programs_[c].program->ops.size(); ++op) {
        if (progress_[c].open[op] == 0) ready_.emplace_back(c, op);
      }
    }
    while (!ready_.empty()) {
      const auto [c, op] = ready_.front();
      ready_.pop_front();
      Begin(c, op);
    }
    for (const ClassProgress& progress : progress_) {
      for (const OpState state : progress.state) {
        if (state != OpState::kEnded) return false;
      }
    }
    return true;
  }

  const std::vector<ClassProgram>& programs() const { return programs_; }
  std::vector<std::vector<OpState>> States() const {
    std::vector<std::vector<OpState>> states;
    for (const ClassProgress& progress : progress_) states.push_back(progress.state);
    return states;
  }

 private:
  using Pair = std::pair<size_t, size_t>;  // member classes of sender and receiver

  struct ClassProgress {
    std::vector<uint32_t> open;
    std::vector<OpState> state;
  };

  const GroupClass& GroupClassOf(int group_class) const {
    return classes_.groups[static_cast<size_t>(group_class)];
  }

  int GroupClassOf(uint32_t c, const Op& op) const {
    const auto rank = static_cast<size_t>(classes_.first_rank[c]);
    const int group = w_.group_of_rank[op.role][rank];
    return classes_.class_of_group[static_cast<size_t>(group)];
  }

  void Begin(uint32_t c, uint32_t index) {
    progress_[c].state[index] = OpState::kBegun;
    const Op& op = programs_[c].program->ops[index];
    if (!IsCommunication(op.kind)) return End(c, index);
    const int group_class = GroupClassOf(c, op);
    const auto member = static_cast<size_t>(classes_.member_class_of[c][op.role]);
    const uint64_t number = programs_[c].number[index];
    auto& pending = pending_[static_cast<size_t>(group_class)][number];
    if (pending.op_of_member.empty()) {
      pending.op_of_member.assign(GroupClassOf(group_class).members.size(), kNone);
      pending.ended.assign(GroupClassOf(group_class).members.size(), false);
    }
    pending.op_of_member[member] = index;
    ++pending.begun;
    if (IsPointToPoint(op)) {
      Message(group_class, number, op);
    } else {
      Collective(group_class, number, op.work);
    }
  }

  void End(uint32_t c, uint32_t index) {
    progress_[c].state[index] = OpState::kEnded;
    const ClassProgram& program = programs_[c];
    for (uint32_t i = program.follower_begin[index]; i < program.follower_begin[index + 1]; ++i) {
      const uint32_t follower = program.follower[i];
      if (--progress_[c].open[follower] == 0) ready_.emplace_back(c, follower);
    }
  }

  void EndMember(int group_class, Pending* pending, size_t member) {
    if (pending->ended[member]) return;
    pending->ended[member] = true;
    End(static_cast<uint32_t>(GroupClassOf(group_class).members[member].rank_class),
        pending->op_of_member[member]);
  }

  void Collective(int group_class, uint64_t number, uint32_t call) {
    auto& calls = pending_[static_cast<size_t>(group_class)];
    Pending& pending = calls[number];
    const CallWaits& waits = WaitsOf(call, group_class);
    const bool all = pending.begun == waits.participants;
    if (waits.all_members && !all) return;
    for (size_t member = 0; member < pending.op_of_member.size(); ++member) {
      if (pending.op_of_member[member] == kNone) continue;
      const bool held =
          !all &&
          std::any_of(waits.members[member].begin(), waits.members[member].end(), [&](int other) {
            return pending.op_of_member[static_cast<size_t>(other)] == kNone;
          });
      if (!held) EndMember(group_class, &pending, member);
    }
    if (all) calls.erase(number);
  }

  void Message(int group_class, uint64_t number, const Op& op) {
    auto& calls = pending_[static_cast<size_t>(group_class)];
    Pending& pending = calls[number];
    const CommCall& call = w_.calls[op.work];
    const Pair ends = {MemberAt(group_class, call.root), MemberAt(group_class, call.peer)};
    Outbox& outbox = outboxes_[static_cast<size_t>(group_class)][ends];
    const CallWaits& waits = WaitsOf(op.work, group_class);
    if (pending.begun == 2) {
      EndMember(group_class, &pending, ends.first);
      EndMember(group_class, &pending, ends.second);
      calls.erase(number);
      const auto sent = std::find_if(outbox.waiting.begin(), outbox.waiting.end(),
                                     [&](const auto& entry) { return entry.first == number; });
      if (sent != outbox.waiting.end()) outbox.waiting.erase(sent);
      EndSendsThatFit(group_class, ends, waits.slots);
    } else if (op.kind == OpKind::kSend) {
      outbox.waiting.emplace_back(number, waits.slices);
      EndSendsThatFit(group_class, ends, waits.slots);
    }
  }

  // If positions matter, each member of a group has its own class.
  size_t MemberAt(int group_class, int position) const {
    const std::vector<MemberClass>& members = GroupClassOf(group_class).members;
    const auto found =
        std::find_if(members.begin(), members.end(),
                     [position](const MemberClass& member) { return member.position == position; });
    CHECK(found != members.end());
    return static_cast<size_t>(found - members.begin());
  }

  // Ends the first sends in flight that together fit into the buffer: their data has left the GPU.
  void EndSendsThatFit(int group_class, const Pair& ends, int64_t slots) {
    int64_t slices = 0;
    for (const auto& [number, own] : outboxes_[static_cast<size_t>(group_class)][ends].waiting) {
      slices += own;
      if (slices > slots) return;
      EndMember(group_class, &pending_[static_cast<size_t>(group_class)][number], ends.first);
    }
  }

  const CallWaits& WaitsOf(uint32_t call, int group_class) {
    const auto [entry, added] = call_waits_.try_emplace({call, group_class});
    if (added) {
      entry->second.slots = unplanned_slots_;
      const bool some = InvolvesSubset(w_.calls[call]);
      entry->second.participants = some ? static_cast<size_t>(ParticipantsOf(w_.calls[call]))
                                        : GroupClassOf(group_class).members.size();
    }
    const auto plan = plan_of_.find({call, group_class});
    if (!added || plan == plan_of_.end()) return entry->second;
    const WaitSets& sets = waits_[plan->second];
    CallWaits& waits = entry->second;
    waits.slices = sets.slices;
    waits.slots = sets.slots;
    waits.all_members = WaitsForAllMembers(sets, w_.calls[call]);
    if (waits.all_members) return waits;
    // Positions matter in such a group.
    const std::vector<MemberClass>& members = GroupClassOf(group_class).members;
    std::vector<int> class_at(members.size());
    for (size_t s = 0; s < members.size(); ++s) {
      class_at[static_cast<size_t>(members[s].position)] = static_cast<int>(s);
    }
    for (const MemberClass& member : members) {
      std::vector<int>& others = waits.members.emplace_back();
      for (const int other : sets.members[static_cast<size_t>(member.position)]) {
        others.push_back(class_at[static_cast<size_t>(other)]);
      }
    }
    return waits;
  }

  const Workload& w_;
  const RankClasses& classes_;
  std::vector<ClassProgram> programs_;
  const std::vector<WaitSets>& waits_;                    // by plan
  std::map<std::pair<uint32_t, int>, uint32_t> plan_of_;  // (call, group class) -> plan
  std::map<std::pair<uint32_t, int>, CallWaits> call_waits_;
  std::vector<ClassProgress> progress_;
  std::vector<std::unordered_map<uint64_t, Pending>>
      pending_;                                   // by group class, by number of the call
  std::vector<std::map<Pair, Outbox>> outboxes_;  // by group class
  const int64_t unplanned_slots_;
  std::deque<std::pair<uint32_t, uint32_t>> ready_;  // class, op
};

// Returns, by group, whether a member's waits depend on its position, as in chains and in calls of
// a subset of the members.
std::vector<bool> PositionsMatter(const Workload& workload, const FlowPlan& plan,
                                  const std::vector<WaitSets>& waits) {
  std::vector<bool> matter = GroupsWithMessages(workload);
  for (const FlowPlan::Assignment& use : plan.assignments) {
    if (waits[use.plan].all_members || IsCyclicShift(workload.calls[use.call])) continue;
    matter[use.group] = true;
  }
  return matter;
}

Status Check(const Workload& workload, const FlowPlan& plan, UnplannedSends sends) {
  std::vector<WaitSets> waits;
  for (const Plan& p : plan.plans) waits.push_back(WaitSetsOf(p));
  const RankClasses classes = FindRankClasses(workload, PositionsMatter(workload, plan, waits));
  ASSIGN_OR_RETURN(std::vector<ClassProgram> programs, MakeClassPrograms(workload, classes));
  RETURN_IF_ERROR(CheckCallsMatch(workload, classes, programs));
  Simulation simulation(workload, classes, std::move(programs), waits, plan, sends);
  if (simulation.Run()) return OkStatus();
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> plan_of;
  for (const FlowPlan::Assignment& use : plan.assignments)
    plan_of[{use.call, use.group}] = use.plan;
  const auto awaits = [&](uint32_t call, uint32_t group, int member, int other) {
    if (member == other || !TakesPart(workload.calls[call], other)) return false;
    const auto use = plan_of.find({call, group});
    if (use == plan_of.end() || WaitsForAllMembers(waits[use->second], workload.calls[call]))
      return true;
    const std::vector<int>& others = waits[use->second].members[static_cast<size_t>(member)];
    return std::binary_search(others.begin(), others.end(), other);
  };
  return DeadlockError(workload, classes, simulation.programs(), simulation.States(), awaits);
}

}  // namespace

Status CheckDeadlock(const Workload& workload, const FlowPlan& plan) {
  return Check(workload, plan, UnplannedSends::kWait);
}

Status CheckDeadlock(const Workload& workload, UnplannedSends sends) {
  return Check(workload, {}, sends);
}

}  // namespace drydock
