// Properties every generated workload has, whatever the layout, for the tests of this room. A small
// executor runs all ranks' programs against each other: an op starts when its dependencies and its
// stream's earlier ops are done; a collective when all members have reached it; a message when both
// ends have. What does not finish is a deadlock.
#ifndef DRYDOCK_WORKLOAD_GEN_STRUCTURE_SUPPORT_H_
#define DRYDOCK_WORKLOAD_GEN_STRUCTURE_SUPPORT_H_

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

class Executor {
 public:
  explicit Executor(const Workload& workload) : w_(workload) {
    for (int rank = 0; rank < w_.rank_count(); ++rank) ranks_.push_back(MakeRank(rank));
  }

  // Number of ops that ran.
  size_t Run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < w_.rank_count(); ++rank) {
        for (size_t s = 0; s < w_.streams.size(); ++s) moved |= Advance(rank, s);
      }
    }
    size_t done = 0;
    for (const Rank& rank : ranks_) {
      for (const bool d : rank.done) done += d ? 1 : 0;
    }
    return done;
  }

 private:
  struct Rank {
    std::vector<std::vector<uint32_t>> streams;  // ops in order
    std::vector<size_t> next;
    std::vector<bool> done;
    std::vector<bool> arrived;
    std::map<std::pair<int, int>, int> calls;  // (stream, group) -> collectives so far
  };
  struct Meeting {
    std::vector<std::pair<int, uint32_t>> present;  // rank, op
    uint32_t call = 0;
  };

  const Program& ProgramOf(int rank) const {
    return w_.programs[static_cast<size_t>(w_.class_of_rank[static_cast<size_t>(rank)])];
  }

  Rank MakeRank(int rank) const {
    const Program& p = ProgramOf(rank);
    Rank made;
    made.streams.resize(w_.streams.size());
    made.next.resize(w_.streams.size());
    made.done.resize(p.ops.size());
    made.arrived.resize(p.ops.size());
    for (uint32_t i = 0; i < p.ops.size(); ++i) made.streams[p.ops[i].stream].push_back(i);
    return made;
  }

  bool Advance(int rank, size_t stream) {
    Rank& r = ranks_[static_cast<size_t>(rank)];
    bool moved = false;
    while (r.next[stream] < r.streams[stream].size()) {
      const uint32_t id = r.streams[stream][r.next[stream]];
      const Op& op = ProgramOf(rank).ops[id];
      if (!r.done[id]) {
        bool ready = !r.arrived[id];
        for (const uint32_t d : ProgramOf(rank).dependencies(id)) ready &= r.done[d];
        if (!ready) break;
        r.arrived[id] = true;
        moved = true;
        if (IsCommunication(op.kind))
          Meet(rank, id, op);
        else
          r.done[id] = true;
        if (!r.done[id]) break;
      }
      ++r.next[stream];
      moved = true;
    }
    return moved;
  }

  void Meet(int rank, uint32_t id, const Op& op) {
    const int group = w_.group_of_rank[op.role][static_cast<size_t>(rank)];
    ASSERT_GE(group, 0);
    const std::vector<int>& members = w_.groups[static_cast<size_t>(group)].ranks;
    const CommCall& call = w_.calls[op.work];
    ASSERT_EQ(call.group_size, static_cast<int>(members.size()));
    std::tuple<int, int, int, int> key;
    if (op.kind == OpKind::kCollective) {
      Rank& r = ranks_[static_cast<size_t>(rank)];
      key = {0, op.stream, group, r.calls[{op.stream, group}]++};
    } else {
      const bool send = op.kind == OpKind::kSend;
      EXPECT_EQ(members[static_cast<size_t>(send ? call.root : call.peer)], rank);
      key = {1, 0, group, op.tag};
    }
    Meeting& meeting = meetings_[key];
    if (meeting.present.empty()) meeting.call = op.work;
    EXPECT_EQ(meeting.call, op.work) << "members call different things";
    meeting.present.emplace_back(rank, id);
    const size_t wanted = op.kind == OpKind::kCollective ? members.size() : 2;
    ASSERT_LE(meeting.present.size(), wanted);
    if (meeting.present.size() < wanted) return;
    for (const auto& [member, op_id] : meeting.present) {
      ranks_[static_cast<size_t>(member)].done[op_id] = true;
    }
  }

  const Workload& w_;
  std::vector<Rank> ranks_;
  std::map<std::tuple<int, int, int, int>, Meeting> meetings_;
};

inline size_t OpCount(const Workload& w) {
  size_t count = 0;
  for (const int c : w.class_of_rank) count += w.programs[static_cast<size_t>(c)].ops.size();
  return count;
}

inline void CheckGraph(const Workload& w) {
  for (const Program& p : w.programs) {
    ASSERT_EQ(p.dependency_begin.size(), p.ops.size() + 1);
    for (size_t i = 0; i < p.ops.size(); ++i) {
      uint32_t previous = 0;
      bool first = true;
      for (const uint32_t d : p.dependencies(i)) {
        EXPECT_LT(d, i);                              // acyclic, in issue order
        EXPECT_NE(p.ops[d].stream, p.ops[i].stream);  // the stream says so already
        EXPECT_TRUE(first || previous < d);
        previous = d;
        first = false;
      }
      const Op& op = p.ops[i];
      EXPECT_LT(op.work, op.kind == OpKind::kCompute ? w.blocks.size()
                         : UsesMemory(op.kind)       ? w.transfers.size()
                                                     : w.calls.size());
      EXPECT_LT(op.stream, w.streams.size());
    }
  }
}

// Tags tell the messages of a pair apart.
inline void CheckTags(const Workload& w) {
  for (const Program& p : w.programs) {
    std::set<std::tuple<OpKind, int, int>> seen;
    for (const Op& op : p.ops) {
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      EXPECT_TRUE(seen.insert({op.kind, op.role, op.tag}).second);
    }
  }
}

// Every use is listed once, and nothing else.
inline void CheckUses(const Workload& w) {
  std::set<std::pair<uint32_t, uint32_t>> expected, listed;
  for (int rank = 0; rank < w.rank_count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    for (const Op& op : w.programs[static_cast<size_t>(w.class_of_rank[r])].ops) {
      if (!IsCommunication(op.kind)) continue;
      expected.emplace(op.work, static_cast<uint32_t>(w.group_of_rank[op.role][r]));
    }
  }
  for (const Workload::Use& use : w.uses) EXPECT_TRUE(listed.emplace(use.call, use.group).second);
  EXPECT_EQ(listed, expected);
}

inline void CheckStructure(const Workload& w) {
  CheckGraph(w);
  CheckTags(w);
  CheckUses(w);
  Executor executor(w);
  EXPECT_EQ(executor.Run(), OpCount(w));
}

inline std::string Set(const std::string& key, int64_t value) {
  return key + "=" + std::to_string(value);
}
inline std::string Flag(const std::string& key, bool value) {
  return key + (value ? "=true" : "=false");
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STRUCTURE_SUPPORT_H_
