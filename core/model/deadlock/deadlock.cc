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

// What the members of one kind of communicator wait for in one call.
struct CallWaits {
  bool everybody = true;
  std::vector<std::vector<int>> seats;  // by seat, if not everybody: whose arrival it waits for
  size_t participants = 0;
  int64_t slices = 1, slots = 0;  // of a message
};

// A call that some members have begun.
struct Pending {
  std::vector<uint32_t> op_of_seat;  // kNone: not there
  uint32_t here = 0;
  std::vector<bool> ended;  // by seat
};

// Sends of one member to another whose receives have not begun.
struct Outbox {
  int64_t slices = 0;
  std::deque<std::pair<uint64_t, int64_t>> waiting;  // number of the call, slices
};

// Whether all that have part in a call wait for one another.
bool MeetsEverybody(const WaitSets& sets, const CommCall& call) {
  return sets.everybody || call.collective == CollectiveType::kSendRecv || IsShift(call);
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
        pending_(classes.kinds.size()),
        unplanned_slots_(sends == UnplannedSends::kEnd ? INT64_MAX : 0) {
    for (const FlowPlan::Assignment& use : plan.assignments) {
      const int kind = classes.kind_of_group[use.group];
      if (kind >= 0) plan_of_[{use.call, kind}] = use.plan;
    }
    outboxes_.resize(classes.kinds.size());
    for (size_t c = 0; c < programs_.size(); ++c) {
      progress_[c].open = programs_[c].open;
      progress_[c].state.assign(programs_[c].program->ops.size(), OpState::kWaiting);
    }
  }

  // False if something never ends; then states() tell what.
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
  using Pair = std::pair<size_t, size_t>;  // seats of sender and receiver

  struct ClassProgress {
    std::vector<uint32_t> open;
    std::vector<OpState> state;
  };

  const GroupKind& KindOf(int kind) const { return classes_.kinds[static_cast<size_t>(kind)]; }

  int KindOf(uint32_t c, const Op& op) const {
    const auto rank = static_cast<size_t>(classes_.first_rank[c]);
    const int group = w_.group_of_rank[op.role][rank];
    return classes_.kind_of_group[static_cast<size_t>(group)];
  }

  void Begin(uint32_t c, uint32_t index) {
    progress_[c].state[index] = OpState::kBegun;
    const Op& op = programs_[c].program->ops[index];
    if (!IsCommunication(op.kind)) return End(c, index);
    const int kind = KindOf(c, op);
    const auto seat = static_cast<size_t>(classes_.seat_of[c][op.role]);
    const uint64_t number = programs_[c].number[index];
    auto& pending = pending_[static_cast<size_t>(kind)][number];
    if (pending.op_of_seat.empty()) {
      pending.op_of_seat.assign(KindOf(kind).seats.size(), kNone);
      pending.ended.assign(KindOf(kind).seats.size(), false);
    }
    pending.op_of_seat[seat] = index;
    ++pending.here;
    if (IsPointToPoint(op)) {
      Message(kind, number, op);
    } else {
      Collective(kind, number, op.work);
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

  void EndSeat(int kind, Pending* pending, size_t seat) {
    if (pending->ended[seat]) return;
    pending->ended[seat] = true;
    End(static_cast<uint32_t>(KindOf(kind).seats[seat].rank_class), pending->op_of_seat[seat]);
  }

  void Collective(int kind, uint64_t number, uint32_t call) {
    auto& calls = pending_[static_cast<size_t>(kind)];
    Pending& pending = calls[number];
    const CallWaits& waits = WaitsOf(call, kind);
    const bool all = pending.here == waits.participants;
    if (waits.everybody && !all) return;
    for (size_t seat = 0; seat < pending.op_of_seat.size(); ++seat) {
      if (pending.op_of_seat[seat] == kNone) continue;
      const bool held =
          !all && std::any_of(waits.seats[seat].begin(), waits.seats[seat].end(), [&](int other) {
            return pending.op_of_seat[static_cast<size_t>(other)] == kNone;
          });
      if (!held) EndSeat(kind, &pending, seat);
    }
    if (all) calls.erase(number);
  }

  void Message(int kind, uint64_t number, const Op& op) {
    auto& calls = pending_[static_cast<size_t>(kind)];
    Pending& pending = calls[number];
    const CommCall& call = w_.calls[op.work];
    const Pair ends = {SeatAt(kind, call.root), SeatAt(kind, call.peer)};
    Outbox& outbox = outboxes_[static_cast<size_t>(kind)][ends];
    const CallWaits& waits = WaitsOf(op.work, kind);
    if (pending.here == 2) {
      EndSeat(kind, &pending, ends.first);
      EndSeat(kind, &pending, ends.second);
      calls.erase(number);
      const auto sent = std::find_if(outbox.waiting.begin(), outbox.waiting.end(),
                                     [&](const auto& entry) { return entry.first == number; });
      if (sent != outbox.waiting.end()) outbox.waiting.erase(sent);
      EndThoseThatFit(kind, ends, waits.slots);
    } else if (op.kind == OpKind::kSend) {
      outbox.waiting.emplace_back(number, waits.slices);
      EndThoseThatFit(kind, ends, waits.slots);
    }
  }

  // Where positions count, a communicator's seats are its members, each at its position.
  size_t SeatAt(int kind, int position) const {
    const std::vector<Seat>& seats = KindOf(kind).seats;
    const auto found = std::find_if(seats.begin(), seats.end(), [position](const Seat& seat) {
      return seat.position == position;
    });
    CHECK(found != seats.end());
    return static_cast<size_t>(found - seats.begin());
  }

  // Of the sends that are on their way, in order, those within the buffer have left their GPU.
  void EndThoseThatFit(int kind, const Pair& ends, int64_t slots) {
    int64_t slices = 0;
    for (const auto& [number, own] : outboxes_[static_cast<size_t>(kind)][ends].waiting) {
      slices += own;
      if (slices > slots) return;
      EndSeat(kind, &pending_[static_cast<size_t>(kind)][number], ends.first);
    }
  }

  const CallWaits& WaitsOf(uint32_t call, int kind) {
    const auto [entry, added] = call_waits_.try_emplace({call, kind});
    if (added) {
      entry->second.slots = unplanned_slots_;
      const bool some = IsAmongSome(w_.calls[call]);
      entry->second.participants =
          some ? static_cast<size_t>(ParticipantsOf(w_.calls[call])) : KindOf(kind).seats.size();
    }
    const auto plan = plan_of_.find({call, kind});
    if (!added || plan == plan_of_.end()) return entry->second;
    const WaitSets& sets = waits_[plan->second];
    CallWaits& waits = entry->second;
    waits.slices = sets.slices;
    waits.slots = sets.slots;
    waits.everybody = MeetsEverybody(sets, w_.calls[call]);
    if (waits.everybody) return waits;
    // Positions count in such a group.
    const std::vector<Seat>& seats = KindOf(kind).seats;
    std::vector<int> seat_at(seats.size());
    for (size_t s = 0; s < seats.size(); ++s) {
      seat_at[static_cast<size_t>(seats[s].position)] = static_cast<int>(s);
    }
    for (const Seat& seat : seats) {
      std::vector<int>& others = waits.seats.emplace_back();
      for (const int member : sets.members[static_cast<size_t>(seat.position)]) {
        others.push_back(seat_at[static_cast<size_t>(member)]);
      }
    }
    return waits;
  }

  const Workload& w_;
  const RankClasses& classes_;
  std::vector<ClassProgram> programs_;
  const std::vector<WaitSets>& waits_;                    // by plan
  std::map<std::pair<uint32_t, int>, uint32_t> plan_of_;  // (call, kind) -> plan
  std::map<std::pair<uint32_t, int>, CallWaits> call_waits_;
  std::vector<ClassProgress> progress_;
  std::vector<std::unordered_map<uint64_t, Pending>> pending_;  // by kind, by number of the call
  std::vector<std::map<Pair, Outbox>> outboxes_;                // by kind
  const int64_t unplanned_slots_;
  std::deque<std::pair<uint32_t, uint32_t>> ready_;  // class, op
};

// Groups whose members wait for one another depending on where they sit: chains, and calls among
// some of the members.
std::vector<bool> PositionsCount(const Workload& workload, const FlowPlan& plan,
                                 const std::vector<WaitSets>& waits) {
  std::vector<bool> count = GroupsWithMessages(workload);
  for (const FlowPlan::Assignment& use : plan.assignments) {
    if (!waits[use.plan].everybody && !IsShift(workload.calls[use.call])) count[use.group] = true;
  }
  return count;
}

Status Check(const Workload& workload, const FlowPlan& plan, UnplannedSends sends) {
  std::vector<WaitSets> waits;
  for (const Plan& p : plan.plans) waits.push_back(WaitSetsOf(p));
  const RankClasses classes = FindRankClasses(workload, PositionsCount(workload, plan, waits));
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
    if (use == plan_of.end() || MeetsEverybody(waits[use->second], workload.calls[call]))
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
