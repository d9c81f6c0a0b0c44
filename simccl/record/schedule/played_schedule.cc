#include "simccl/record/schedule/played_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "simccl/record/log/match.h"
#include "simccl/record/workload/order.h"

namespace drydock {
namespace {

size_t Index(int value) { return static_cast<size_t>(value); }

RecordFunction FunctionOf(const hacknccl_call& call) {
  switch (call.function) {
    case HACKNCCL_BROADCAST:
      return RecordFunction::kBroadcast;
    case HACKNCCL_REDUCE:
      return RecordFunction::kReduce;
    case HACKNCCL_ALL_GATHER:
      return RecordFunction::kAllGather;
    case HACKNCCL_REDUCE_SCATTER:
      return RecordFunction::kReduceScatter;
    case HACKNCCL_ALL_REDUCE:
      return RecordFunction::kAllReduce;
    case HACKNCCL_SEND:
      return RecordFunction::kSend;
    case HACKNCCL_RECV:
      return RecordFunction::kRecv;
    case HACKNCCL_ALL_TO_ALL:
      return RecordFunction::kAllToAll;
    case HACKNCCL_SCATTER:
      return RecordFunction::kScatter;
    case HACKNCCL_GATHER:
      return RecordFunction::kGather;
  }
  CHECK(false);
}

// Does not compare in_place: the recording has no addresses.
bool IsRecordOf(const RecordEntry& entry, const hacknccl_call& call) {
  return entry.function == FunctionOf(call) && entry.type == call.datatype &&
         entry.count == call.count && entry.op == call.op && entry.peer == call.root &&
         static_cast<int32_t>(entry.buffers) == call.buffers;
}

bool SameOrder(const Program& a, const Program& b) {
  const auto same = [](const Op& x, const Op& y) { return x.host_waits == y.host_waits; };
  return a.dependency_begin == b.dependency_begin && a.dependency == b.dependency &&
         std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), same);
}

// Returns the index of a communicator among the rank's, in the order in which the rank made them.
size_t NumberOf(const ScheduleSplits& splits, int rank, int communicator) {
  if (communicator == 0) return 0;
  const auto in_split = [rank](const std::vector<int>& groups) { return groups[Index(rank)] >= 0; };
  return 1 + static_cast<size_t>(std::count_if(splits.group_of_rank.begin(),
                                               splits.group_of_rank.begin() + communicator - 1,
                                               in_split));
}

// Returns the number after the last communicator.
int EndOf(const ScheduleSplits& splits) {
  return static_cast<int>(splits.group_of_rank.size()) + 1;
}

// Returns what an entry of the log makes the host wait for before the next op.
HostWait WaitOf(RecordKind kind) {
  return kind == RecordKind::kStreamSync   ? HostWait::kOpReady
         : kind == RecordKind::kDeviceSync ? HostWait::kDeviceSync
                                           : HostWait::kNothing;
}

// Rebuilds a rank's program op by op.
class ProgramReader {
 public:
  explicit ProgramReader(const Program& scheduled) : scheduled_(scheduled) {}

  void Note(const RecordEntry& entry) {
    const HostWait wait = WaitOf(entry.kind);
    host_waits_ = std::max(host_waits_, wait);
    if (wait == HostWait::kNothing) order_.Note(entry);
  }

  // Starts the next op. Returns false if it is not the schedule's next op.
  bool Begin(const RecordEntry& entry) {
    const size_t number = program_.ops.size();
    if (entry.count != number || number >= scheduled_.ops.size()) return false;
    Op op = scheduled_.ops[number];
    op.host_waits = std::exchange(host_waits_, HostWait::kNothing);
    program_.dependency_begin.push_back(static_cast<uint32_t>(program_.dependency.size()));
    for (const uint32_t before : order_.Before(entry)) {
      if (program_.ops[before].stream != op.stream) program_.dependency.push_back(before);
    }
    program_.ops.push_back(op);
    order_.Issued(entry, {static_cast<uint32_t>(number)});
    return true;
  }

  size_t ops() const { return program_.ops.size(); }

  Program Finish() {
    program_.dependency_begin.push_back(static_cast<uint32_t>(program_.dependency.size()));
    return std::move(program_);
  }

 private:
  const Program& scheduled_;
  Program program_;
  RecordOrder order_{&program_};
  HostWait host_waits_ = HostWait::kNothing;
};

void SetUses(Workload* workload) {
  std::set<std::pair<int, Workload::Use>> by_role;  // class, call and role
  for (size_t c = 0; c < workload->programs.size(); ++c) {
    for (const Op& op : workload->programs[c].ops) {
      if (IsCommunication(op.kind)) by_role.insert({static_cast<int>(c), {op.work, op.role}});
    }
  }
  std::set<Workload::Use> uses;
  for (size_t rank = 0; rank < workload->class_of_rank.size(); ++rank) {
    const int of_rank = workload->class_of_rank[rank];
    for (auto at = by_role.lower_bound({of_rank, {}}); at != by_role.end() && at->first == of_rank;
         ++at) {
      const int group = workload->group_of_rank[at->second.group][rank];
      uses.insert({at->second.call, static_cast<uint32_t>(group)});
    }
  }
  workload->uses.assign(uses.begin(), uses.end());
}

}  // namespace

PlayedSchedule::PlayedSchedule(const Workload& schedule)
    : schedule_(schedule),
      splits_(SplitsOf(schedule)),
      class_of_rank_(schedule.class_of_rank.size(), -1) {
  for (const CommCall& call : schedule.calls) {
    calls_.push_back(BypassesNccl(call) ? GroupOfCalls() : CallsOf(call));
  }
}

Status PlayedSchedule::Take(int rank, RecordedRank* recorded) {
  const int scheduled = schedule_.class_of_rank[Index(rank)];
  const Program& program = schedule_.programs[Index(scheduled)];
  ProgramReader reader(program);
  std::vector<RecordEntry> calls;
  uint64_t stream = 0;
  for (RecordEntry& entry : recorded->entries) {
    if (entry.kind == RecordKind::kCall && reader.ops() > 0 && entry.stream == stream) {
      entry.event = reader.ops() - 1;
      calls.push_back(entry);
    } else if (entry.kind == RecordKind::kOp && reader.Begin(entry)) {
      stream = entry.stream;
    } else if (entry.kind != RecordKind::kCall && entry.kind != RecordKind::kOp) {
      reader.Note(entry);
    } else {
      return Error(fmt::format("rank {}: the recording differs from the schedule after {} ops",
                               rank, reader.ops()));
    }
  }
  if (reader.ops() != program.ops.size()) {
    return Error(
        fmt::format("rank {}: {} of {} ops were recorded", rank, reader.ops(), program.ops.size()));
  }
  if (recorded->joined.size() != NumberOf(splits_, rank, EndOf(splits_))) {
    return Error(fmt::format("rank {} has not made all of its groups", rank));
  }
  recorded->entries = std::move(calls);
  recorded->entries.shrink_to_fit();
  RETURN_IF_ERROR(CheckCalls(rank, *recorded));
  class_of_rank_[Index(rank)] = ClassOf(scheduled, reader.Finish());
  return OkStatus();
}

// Checks that each op made the scheduled calls on the scheduled communicator.
Status PlayedSchedule::CheckCalls(int rank, const RecordedRank& recorded) const {
  const std::vector<Membership> memberships = MembershipsOf(rank, recorded);
  const Program& program = schedule_.programs[Index(schedule_.class_of_rank[Index(rank)])];
  auto at = recorded.entries.begin();
  for (uint64_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!CallsNccl(schedule_, op)) continue;
    const Membership& membership = memberships[op.role];
    const GroupOfCalls& calls = calls_[op.work];
    for (const hacknccl_call& call :
         calls.members[calls.has_messages ? membership.member : 0].calls) {
      const bool same = at != recorded.entries.end() && at->event == i &&
                        at->communicator == membership.communicator && IsRecordOf(*at, call);
      if (!same) return Error(Mismatch(rank, i));
      ++at;
    }
  }
  return at == recorded.entries.end() ? OkStatus() : Status(Error(Mismatch(rank, at->event)));
}

// By role. Entries of roles without a group are unused.
std::vector<PlayedSchedule::Membership> PlayedSchedule::MembershipsOf(
    int rank, const RecordedRank& recorded) const {
  std::vector<Membership> memberships;
  for (const std::vector<int>& groups : schedule_.group_of_rank) {
    Membership& membership = memberships.emplace_back();
    const int group = groups[Index(rank)];
    if (group < 0) continue;
    const std::vector<int>& ranks = schedule_.groups[Index(group)].ranks;
    membership.member =
        static_cast<size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    const int communicator = splits_.communicator_of_group[Index(group)];
    membership.communicator = recorded.joined[NumberOf(splits_, rank, communicator)];
  }
  return memberships;
}

std::string PlayedSchedule::Mismatch(int rank, uint64_t op) const {
  return fmt::format("rank {}, {}: the recording differs from the schedule", rank,
                     ScheduledPlace(schedule_, rank, op));
}

// Ranks of one scheduled class whose recorded order is the same form a class again.
int PlayedSchedule::ClassOf(int scheduled, Program program) {
  for (size_t c = 0; c < made_.size(); ++c) {
    if (made_[c].scheduled == scheduled && SameOrder(made_[c].program, program)) {
      return static_cast<int>(c);
    }
  }
  made_.push_back({scheduled, std::move(program)});
  return static_cast<int>(made_.size() - 1);
}

Result<Workload> PlayedSchedule::Finish(const Recording& recording) {
  Workload made = schedule_;
  for (size_t rank = 0; rank < class_of_rank_.size(); ++rank) {
    if (class_of_rank_[rank] < 0) return Error(fmt::format("rank {} left no recording", rank));
  }
  for (size_t g = 0; g < made.groups.size(); ++g) {
    std::vector<int>& ranks = made.groups[g].ranks;
    const int first = ranks.front();
    const size_t number = NumberOf(splits_, first, splits_.communicator_of_group[g]);
    ranks = recording.communicators[recording.ranks[Index(first)].joined[number]].ranks;
  }
  made.class_of_rank = class_of_rank_;
  made.class_count = static_cast<int>(made_.size());
  made.programs.clear();
  made.memory.clear();
  for (Made& of_class : made_) {
    made.programs.push_back(std::move(of_class.program));
    if (schedule_.memory.empty()) continue;
    made.memory.push_back(schedule_.memory[Index(of_class.scheduled)]);
  }
  SetUses(&made);
  return made;
}

}  // namespace drydock
