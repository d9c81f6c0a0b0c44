#include "simccl/record/workload/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "simccl/record/log/match.h"
#include "simccl/record/workload/order.h"

namespace drydock {
namespace {

// Messages of a group that run at the same time in each direction (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
constexpr size_t kLanes = 8;
// Op has a byte for each.
constexpr size_t kMaxStreams = UINT8_MAX;
constexpr size_t kMaxRoles = UINT8_MAX;

enum Lane : int { kMainLane, kSendLane, kReceiveLane };

using Ops = RecordOrder::Ops;

class ProgramMaker {
 public:
  ProgramMaker(const Recording& recording, RecordTables* tables)
      : recording_(recording), tables_(tables) {}

  Result<RecordProgram> Make(const RecordedRank& rank) {
    const std::vector<RecordEntry>& entries = rank.entries;
    first_entry_ = entries.data();
    const auto work = std::find_if(entries.begin(), entries.end(), [](const RecordEntry& entry) {
      return entry.kind == RecordKind::kWork;
    });
    has_work_ = work != entries.end();
    if (has_work_) lanes_.emplace(LaneName(work->stream, kMainLane, 0), uint8_t{0});
    for (size_t i = 0; i < entries.size();) {
      if (entries[i].kind == RecordKind::kWork) {
        RETURN_IF_ERROR(AddWork(entries[i++]));
        continue;
      }
      if (entries[i].kind != RecordKind::kCall) {
        order_.Note(entries[i++]);
        continue;
      }
      size_t end = i;
      while (end < entries.size() && entries[end].kind == RecordKind::kCall &&
             entries[end].group == entries[i].group) {
        ++end;
      }
      RETURN_IF_ERROR(AddGroup(std::span(entries).subspan(i, end - i)));
      i = end;
    }
    out_.program.dependency_begin.push_back(static_cast<uint32_t>(out_.program.dependency.size()));
    tables_->streams = std::max(tables_->streams, next_stream());
    return std::move(out_);
  }

 private:
  // The workload's stream "compute" exists, also if the rank has no work.
  size_t next_stream() const { return lanes_.size() + (has_work_ ? 0 : 1); }

  Status AddWork(const RecordEntry& entry) {
    const Ops before = order_.Before(entry);
    ASSIGN_OR_RETURN(const uint32_t op,
                     AppendOp(OpKind::kCompute, entry, static_cast<uint32_t>(entry.count),
                              {entry.stream, kMainLane, 0}, before));
    order_.Issued(entry, {op});
    return OkStatus();
  }

  Status AddGroup(std::span<const RecordEntry> group) {
    std::vector<uint64_t> communicators;
    for (const RecordEntry& entry : group) {
      const auto& known = communicators;
      if (std::find(known.begin(), known.end(), entry.communicator) == known.end()) {
        communicators.push_back(entry.communicator);
      }
    }
    for (const uint64_t communicator : communicators) {
      std::vector<const RecordEntry*> calls;
      for (const RecordEntry& entry : group) {
        if (entry.communicator == communicator) calls.push_back(&entry);
      }
      RETURN_IF_ERROR(AddCalls(communicator, calls));
    }
    return OkStatus();
  }

  // Adds the calls of a group on one communicator: one launch, which waits for all their streams.
  Status AddCalls(uint64_t communicator, const std::vector<const RecordEntry*>& calls) {
    Ops last;  // at first what the group waits for, later the ops of the group issued last
    for (const RecordEntry* call : calls) {
      const Ops before = order_.Before(*call);
      last.insert(last.end(), before.begin(), before.end());
    }
    last = order_.Newest(last);
    const uint64_t stream = calls.front()->stream;
    const int members = recording_.communicators[communicator].members();
    const RecordEntry& first = *calls.front();
    const LaunchForm form = tables_->launches.Of(communicator, first.rank, first.group);
    const Lane lane = kMainLane;
    const auto append = [&](const RecordEntry& entry, const CommCall& call) -> Status {
      ASSIGN_OR_RETURN(const uint32_t op,
                       Append(OpKind::kCollective, entry, call, {stream, lane, 0}, last));
      last = {op};
      return OkStatus();
    };
    if (form.all != nullptr) {
      RETURN_IF_ERROR(append(first, *form.all));
    } else {
      std::vector<const RecordEntry*> messages;
      if (form.collectives != nullptr) RETURN_IF_ERROR(append(first, *form.collectives));
      for (const RecordEntry* call : calls) {
        if (IsMessage(*call)) {
          messages.push_back(call);
        } else if (form.collectives == nullptr) {
          RETURN_IF_ERROR(append(*call, CallOf(*call, members)));
        }
      }
      RETURN_IF_ERROR(AddMessages(stream, members, std::move(messages), &last));
    }
    for (const RecordEntry* call : calls) order_.Issued(*call, last);
    return OkStatus();
  }

  // Adds messages that wait for `*last`, and sets `*last` to the messages.
  Status AddMessages(uint64_t stream, int members, std::vector<const RecordEntry*> messages,
                     Ops* last) {
    // A message of a rank to itself is a copy.
    std::erase_if(messages,
                  [](const RecordEntry* m) { return m->peer == m->rank || m->count == 0; });
    if (messages.empty()) return OkStatus();
    // The cyclic distance of the peer: forwards for a send, backwards for a receive.
    const auto distance = [members](const RecordEntry* m) {
      return ((IsSend(*m) ? m->peer - m->rank : m->rank - m->peer) + members) % members;
    };
    std::stable_sort(messages.begin(), messages.end(),
                     [&](const auto* a, const auto* b) { return distance(a) < distance(b); });
    const Ops before = *last;
    const bool alone = messages.size() == 1;
    last->clear();
    size_t sends = 0, receives = 0;
    for (const RecordEntry* message : messages) {
      const bool is_send = IsSend(*message);
      const size_t turn = (is_send ? sends++ : receives++) % kLanes;
      const Lane direction = alone ? kMainLane : is_send ? kSendLane : kReceiveLane;
      ASSIGN_OR_RETURN(const uint32_t op, Append(is_send ? OpKind::kSend : OpKind::kRecv, *message,
                                                 CallOf(*message, members),
                                                 {stream, direction, alone ? 0 : turn}, before));
      last->push_back(op);
    }
    *last = order_.Newest(*last);
    return OkStatus();
  }

  static bool IsSend(const RecordEntry& entry) { return entry.function == RecordFunction::kSend; }

  using LaneName = std::tuple<uint64_t, Lane, size_t>;

  Result<uint32_t> Append(OpKind kind, const RecordEntry& entry, const CommCall& work,
                          const LaneName& lane, const Ops& before) {
    ASSIGN_OR_RETURN(const uint32_t op, AppendOp(kind, entry, tables_->Intern(work), lane, before));
    auto& roles = out_.communicator_of_role;
    auto role = std::find(roles.begin(), roles.end(), entry.communicator);
    if (role == roles.end()) role = roles.insert(roles.end(), entry.communicator);
    if (roles.size() > kMaxRoles) return TooMany();
    out_.program.ops[op].role = static_cast<uint8_t>(role - roles.begin());
    return op;
  }

  Result<uint32_t> AppendOp(OpKind kind, const RecordEntry& entry, uint32_t work,
                            const LaneName& lane, const Ops& before) {
    Op op;
    op.kind = kind;
    op.phase = Phase::kOther;
    op.work = work;
    const size_t next = next_stream();
    const auto [known, added] = lanes_.emplace(lane, static_cast<uint8_t>(next));
    if (added && next > kMaxStreams) return TooMany();
    op.stream = known->second;
    Program& program = out_.program;
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
    for (const uint32_t earlier : before) {
      if (program.ops[earlier].stream != op.stream) program.dependency.push_back(earlier);
    }
    program.ops.push_back(op);
    out_.entry_of_op.push_back(static_cast<size_t>(&entry - first_entry_));
    return static_cast<uint32_t>(program.ops.size() - 1);
  }

  static Error TooMany() {
    return Error(fmt::format("a rank uses more than {} streams or {} communicators", kMaxStreams,
                             kMaxRoles));
  }

  const Recording& recording_;
  RecordTables* tables_;
  RecordProgram out_;
  const RecordEntry* first_entry_ = nullptr;
  bool has_work_ = false;
  RecordOrder order_{&out_.program};
  std::map<LaneName, uint8_t> lanes_;
};

}  // namespace

namespace {

// Returns a text that is equal for equal calls.
std::string KeyOf(const CommCall& call) {
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {}", static_cast<int>(call.collective),
                                static_cast<int>(call.type), static_cast<int>(call.op),
                                static_cast<int>(call.buffers), call.count, call.root, call.peer,
                                call.group_size, fmt::join(call.pair_counts, ","));
  for (const CommCall& part : call.parts) key.append(";").append(KeyOf(part));
  return key;
}

}  // namespace

uint32_t RecordTables::Intern(const CommCall& call) {
  const auto [known, added] = known_.emplace(KeyOf(call), static_cast<uint32_t>(calls.size()));
  if (added) calls.push_back(call);
  return known->second;
}

Result<RecordProgram> MakeRecordProgram(const Recording& recording, const RecordedRank& rank,
                                        RecordTables* tables) {
  return ProgramMaker(recording, tables).Make(rank);
}

std::vector<std::string> RecordStreamNames(size_t count) {
  std::vector<std::string> names = {"compute"};
  for (size_t i = 1; i < count; ++i) names.push_back(fmt::format("stream {}", i));
  return names;
}

}  // namespace drydock
