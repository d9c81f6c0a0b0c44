#include "simccl/record/workload/launches.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/model/calls/grouped_call.h"
#include "simccl/record/log/match.h"
#include "simccl/record/workload/exchange.h"

namespace drydock {
namespace {

// A grouped call lists its parts. Groups of more parts stay single calls.
constexpr size_t kMaxParts = size_t{1} << 16;

// By ncclRedOp_t, then kRecordPreMulSum.
constexpr ReduceOp kByNcclOp[] = {ReduceOp::kSum, ReduceOp::kProd,    ReduceOp::kMax,
                                  ReduceOp::kMin, ReduceOp::kAverage, ReduceOp::kPremulSum};

CollectiveType CollectiveOf(RecordFunction function) {
  switch (function) {
    case RecordFunction::kAllReduce:
      return CollectiveType::kAllReduce;
    case RecordFunction::kAllGather:
      return CollectiveType::kAllGather;
    case RecordFunction::kReduceScatter:
      return CollectiveType::kReduceScatter;
    case RecordFunction::kBroadcast:
      return CollectiveType::kBroadcast;
    case RecordFunction::kReduce:
      return CollectiveType::kReduce;
    case RecordFunction::kAllToAll:
      return CollectiveType::kAllToAll;
    case RecordFunction::kGather:
      return CollectiveType::kGather;
    case RecordFunction::kScatter:
      return CollectiveType::kScatter;
    default:
      return CollectiveType::kSendRecv;
  }
}

struct Launch {
  int member = 0;
  uint64_t group = 0;
  std::vector<const RecordEntry*> calls;
};

// Disjoint sets of launches.
class Unions {
 public:
  explicit Unions(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  void Join(size_t a, size_t b) { parent_[Find(a)] = Find(b); }
  // Returns the sets ordered by their first element; each set is sorted.
  std::vector<std::vector<size_t>> Sets() {
    std::map<size_t, size_t> index;
    std::vector<std::vector<size_t>> sets;
    for (size_t i = 0; i < parent_.size(); ++i) {
      const auto [known, added] = index.emplace(Find(i), sets.size());
      if (added) sets.emplace_back();
      sets[known->second].push_back(i);
    }
    return sets;
  }

 private:
  size_t Find(size_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  std::vector<size_t> parent_;
};

// Joins the launches that make the same collective.
void JoinCollectives(std::span<const Launch> launches, Unions* unions) {
  std::map<int, size_t> made;     // collectives so far, by member
  std::vector<size_t> of_number;  // a launch of the n-th collective
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const RecordEntry* call : launches[i].calls) {
      if (IsMessage(*call)) continue;
      const size_t number = made[launches[i].member]++;
      if (number == of_number.size()) of_number.push_back(i);
      unions->Join(i, of_number[number]);
    }
  }
}

// Joins the launch that sends a message with the launch that receives it.
void JoinMessages(std::span<const Launch> launches, Unions* unions) {
  std::map<std::pair<int, int>, std::pair<std::vector<size_t>, std::vector<size_t>>> ends;
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const RecordEntry* call : launches[i].calls) {
      if (!IsMessage(*call)) continue;
      const bool sends = call->function == RecordFunction::kSend;
      auto& [sent, received] =
          ends[sends ? std::pair(call->rank, call->peer) : std::pair(call->peer, call->rank)];
      (sends ? sent : received).push_back(i);
    }
  }
  for (const auto& [pair, both] : ends) {
    for (size_t m = 0; m < std::min(both.first.size(), both.second.size()); ++m) {
      unions->Join(both.first[m], both.second[m]);
    }
  }
}

// Returns true if the set has at most one launch per member.
bool HasOnePerMember(std::span<const Launch> launches, std::span<const size_t> set) {
  std::set<int> members;
  for (const size_t i : set) {
    if (!members.insert(launches[i].member).second) return false;
  }
  return true;
}

// Makes one call of all launches of a set. Returns nullopt if the set has only one call, or too
// many for a grouped call.
class SetAsCall {
 public:
  SetAsCall(std::span<const Launch> launches, std::span<const size_t> set, int members)
      : launches_(launches), set_(set), members_(members) {}

  std::optional<CommCall> All() const {
    std::vector<CommCall> parts = Collectives();
    const bool collectives = !parts.empty();
    std::vector<const RecordEntry*> sends;
    for (const size_t i : set_) {
      for (const RecordEntry* call : launches_[i].calls) {
        if (call->function == RecordFunction::kSend && call->count > 0) sends.push_back(call);
      }
    }
    if (parts.size() + sends.size() < 2) return std::nullopt;
    if (!collectives && set_.size() == static_cast<size_t>(members_)) {
      if (auto exchange = ExchangeOf(sends, members_)) return exchange;
    }
    for (const RecordEntry* send : sends) parts.push_back(CallOf(*send, members_));
    return Grouped(std::move(parts));
  }

  std::optional<CommCall> CollectivesOnly() const { return Grouped(Collectives()); }

 private:
  static std::optional<CommCall> Grouped(std::vector<CommCall> parts) {
    if (parts.size() < 2 || parts.size() > kMaxParts) return std::nullopt;
    return MakeGrouped(std::move(parts));
  }

  // Members that make any collectives make the same ones.
  std::vector<CommCall> Collectives() const {
    std::vector<CommCall> calls;
    for (const RecordEntry* call : launches_[set_.front()].calls) {
      if (!IsMessage(*call)) calls.push_back(CallOf(*call, members_));
    }
    return calls;
  }

  std::span<const Launch> launches_;
  std::span<const size_t> set_;
  int members_;
};

// By communicator.
std::map<uint64_t, std::vector<Launch>> CollectLaunches(const Recording& recording) {
  std::map<uint64_t, std::vector<Launch>> all;
  for (const RecordedRank& rank : recording.ranks) {
    for (const RecordEntry& entry : rank.entries) {
      if (entry.kind != RecordKind::kCall) continue;
      std::vector<Launch>& launches = all[entry.communicator];
      const bool goes_on = !launches.empty() && launches.back().member == entry.rank &&
                           launches.back().group == entry.group;
      if (!goes_on) launches.push_back({entry.rank, entry.group, {}});
      launches.back().calls.push_back(&entry);
    }
  }
  return all;
}

}  // namespace

RecordLaunches::RecordLaunches(const Recording& recording) {
  for (const auto& entry : CollectLaunches(recording)) {
    const uint64_t communicator = entry.first;
    const std::vector<Launch>& launches = entry.second;
    const auto members = recording.communicators[communicator].members();
    const auto note = [&](const std::vector<size_t>& set, std::optional<CommCall> call,
                          const CommCall* LaunchForm::*field) {
      if (!call.has_value()) return;
      calls_.push_back(std::move(*call));
      for (const size_t i : set) {
        forms_[{communicator, launches[i].member, launches[i].group}].*field = &calls_.back();
      }
    };
    Unions by_collectives(launches.size());
    JoinCollectives(launches, &by_collectives);
    Unions by_all = by_collectives;
    JoinMessages(launches, &by_all);
    for (const std::vector<size_t>& set : by_all.Sets()) {
      if (!HasOnePerMember(launches, set)) continue;
      note(set, SetAsCall(launches, set, members).All(), &LaunchForm::all);
    }
    for (const std::vector<size_t>& set : by_collectives.Sets()) {
      if (!HasOnePerMember(launches, set)) continue;
      note(set, SetAsCall(launches, set, members).CollectivesOnly(), &LaunchForm::collectives);
    }
  }
}

LaunchForm RecordLaunches::Of(uint64_t communicator, int member, uint64_t group) const {
  const auto found = forms_.find({communicator, member, group});
  return found == forms_.end() ? LaunchForm() : found->second;
}

CommCall CallOf(const RecordEntry& entry, int members) {
  CommCall call;
  call.collective = CollectiveOf(entry.function);
  call.type = TypeOf(entry);
  call.op = kByNcclOp[entry.op];
  call.buffers = static_cast<BufferKind>(entry.buffers);
  call.group_size = members;
  call.count = static_cast<int64_t>(entry.count);
  switch (call.collective) {
    case CollectiveType::kSendRecv:
      call.root = entry.function == RecordFunction::kSend ? entry.rank : entry.peer;
      call.peer = entry.function == RecordFunction::kSend ? entry.peer : entry.rank;
      break;
    case CollectiveType::kGather:
    case CollectiveType::kScatter:
      call.count *= members;
      [[fallthrough]];
    case CollectiveType::kBroadcast:
    case CollectiveType::kReduce:
      call.root = entry.peer;
      break;
    case CollectiveType::kAllGather:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kAllToAll:
      call.count *= members;
      break;
    default:
      break;
  }
  return call;
}

}  // namespace drydock
