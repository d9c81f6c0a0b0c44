// For tests: decides whether a workload runs, without any code of the check.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_RANK_ORACLE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_RANK_ORACLE_H_

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Replays each rank separately, without classes. Sends do not wait. Runs() returns true if every op
// ends and the members of each call agree.
class RankOracle {
 public:
  explicit RankOracle(const Workload& workload) : w_(workload) {}

  bool Runs() {
    const auto ranks = static_cast<size_t>(w_.rank_count());
    ended_.resize(ranks);
    begun_.resize(ranks);
    keys_.resize(ranks);
    for (size_t rank = 0; rank < ranks; ++rank) {
      NumberCalls(rank);
      ended_[rank].assign(ProgramOf(rank).ops.size(), false);
      begun_[rank] = ended_[rank];
    }
    bool moved = true;
    while (moved && agree_) {
      moved = false;
      for (size_t rank = 0; rank < ranks; ++rank) moved |= Step(rank);
      moved |= EndCalls();
    }
    // A send without a receive ends, but is an error.
    for (const auto& [key, call] : calls_) agree_ = agree_ && (!call.sent || call.here.size() == 2);
    if (!agree_) return false;
    for (const auto& of_rank : ended_) {
      if (std::find(of_rank.begin(), of_rank.end(), false) != of_rank.end()) return false;
    }
    return true;
  }

 private:
  struct Call {
    std::map<int, std::pair<size_t, uint32_t>> here;  // member -> rank, op
    bool sent = false;
  };

  const Program& ProgramOf(size_t rank) const {
    return w_.programs[static_cast<size_t>(w_.class_of_rank[rank])];
  }

  // Numbers the calls of a communicator in program order, which may differ from their start order.
  void NumberCalls(size_t rank) {
    std::map<std::vector<int64_t>, int64_t> made;
    for (const Op& op : ProgramOf(rank).ops) {
      std::vector<int64_t>& key = keys_[rank].emplace_back();
      if (!IsCommunication(op.kind)) continue;
      key.push_back(w_.group_of_rank[op.role][rank]);
      const CommCall& call = w_.calls[op.work];
      if (op.kind != OpKind::kCollective) key.insert(key.end(), {op.tag, call.root, call.peer});
      key.push_back(made[key]++);
    }
  }

  bool Step(size_t rank) {
    bool moved = false;
    const Program& program = ProgramOf(rank);
    std::set<uint8_t> blocked;
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      bool ready = blocked.count(op.stream) == 0 && !begun_[rank][i];
      for (const uint32_t before : program.dependencies(i)) ready = ready && ended_[rank][before];
      if (ready) {
        begun_[rank][i] = moved = true;
        Begin(rank, i);
      }
      if (!ended_[rank][i]) blocked.insert(op.stream);
    }
    return moved;
  }

  void Begin(size_t rank, uint32_t index) {
    const Op& op = ProgramOf(rank).ops[index];
    if (!IsCommunication(op.kind)) {
      ended_[rank][index] = true;
      return;
    }
    const CommCall& call = w_.calls[op.work];
    const int group = w_.group_of_rank[op.role][rank];
    const std::vector<int>& ranks = w_.groups[static_cast<size_t>(group)].ranks;
    const auto member = static_cast<int>(
        std::find(ranks.begin(), ranks.end(), static_cast<int>(rank)) - ranks.begin());
    Call& open = calls_[keys_[rank][index]];
    for (const auto& [other, place] : open.here) {
      const Op& there = ProgramOf(place.first).ops[place.second];
      if (!(w_.calls[there.work] == call) || other == member) agree_ = false;
    }
    open.here[member] = {rank, index};
    if (op.kind == OpKind::kSend) ended_[rank][index] = open.sent = true;
  }

  bool EndCalls() {
    bool moved = false;
    for (auto& [key, call] : calls_) {
      const size_t wanted =
          key.size() > 2 ? 2 : w_.groups[static_cast<size_t>(key[0])].ranks.size();
      for (const auto& [member, place] : call.here) {
        const bool receives = ProgramOf(place.first).ops[place.second].kind == OpKind::kRecv;
        if (ended_[place.first][place.second]) continue;
        if (call.here.size() < wanted && !(receives && call.sent)) continue;
        ended_[place.first][place.second] = moved = true;
      }
    }
    return moved;
  }

  const Workload& w_;
  bool agree_ = true;
  std::vector<std::vector<bool>> ended_, begun_;
  std::vector<std::vector<std::vector<int64_t>>> keys_;  // by rank, op: group, name, number
  std::map<std::vector<int64_t>, Call> calls_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_RANK_ORACLE_H_
