// For tests: properties of all generated workloads. Each function returns the violation of a
// property, or "". A small executor runs the programs of all ranks. An op starts when its
// dependencies and the earlier ops of its stream have ended, a collective when all members have
// reached it, and a message when sender and receiver have reached it. Ops that never end are a
// deadlock.
#ifndef DRYDOCK_WORKLOAD_GEN_TESTING_STRUCTURE_TESTING_H_
#define DRYDOCK_WORKLOAD_GEN_TESTING_STRUCTURE_TESTING_H_

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/graph/check/check.h"

namespace drydock {

class Executor {
 public:
  explicit Executor(const Workload& workload) : w_(workload) {
    for (int rank = 0; rank < w_.rank_count(); ++rank) ranks_.push_back(MakeRank(rank));
  }

  std::string Run() {
    bool moved = true;
    while (moved && mistake_.empty()) {
      moved = false;
      for (int rank = 0; rank < w_.rank_count(); ++rank) {
        for (size_t s = 0; s < w_.streams.size(); ++s) moved |= Advance(rank, s);
      }
    }
    size_t done = 0, all = 0;
    for (const Rank& rank : ranks_) {
      all += rank.done.size();
      for (const bool d : rank.done) done += d ? 1 : 0;
    }
    if (mistake_.empty() && done != all) Fail(fmt::format("{} of {} ops end", done, all));
    return mistake_;
  }

 private:
  struct Rank {
    std::vector<std::vector<uint32_t>> streams;  // ops in order
    std::vector<size_t> next;
    std::vector<bool> done;
    std::vector<bool> arrived;
    std::map<std::pair<int, int>, int> calls;  // (stream, group) -> collectives so far
  };
  struct PendingCall {
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
          Arrive(rank, id, op);
        else
          r.done[id] = true;
        if (!r.done[id]) break;
      }
      ++r.next[stream];
      moved = true;
    }
    return moved;
  }

  void Arrive(int rank, uint32_t id, const Op& op) {
    const int group = w_.group_of_rank[op.role][static_cast<size_t>(rank)];
    if (group < 0) return Fail(fmt::format("rank {}, op {}: it has no group", rank, id));
    const std::vector<int>& members = w_.groups[static_cast<size_t>(group)].ranks;
    const CommCall& call = w_.calls[op.work];
    if (call.group_size != static_cast<int>(members.size())) {
      return Fail(fmt::format("rank {}, op {}: the group has {} members, the call {}", rank, id,
                              members.size(), call.group_size));
    }
    std::tuple<int, int, int, int> key;
    if (op.kind == OpKind::kCollective) {
      Rank& r = ranks_[static_cast<size_t>(rank)];
      key = {0, op.stream, group, r.calls[{op.stream, group}]++};
    } else {
      const bool send = op.kind == OpKind::kSend;
      if (members[static_cast<size_t>(send ? call.root : call.peer)] != rank) {
        return Fail(fmt::format("rank {}, op {}: a message of another member", rank, id));
      }
      key = {1, 0, group, op.tag};
    }
    PendingCall& pending = pending_calls_[key];
    if (pending.present.empty()) pending.call = op.work;
    if (pending.call != op.work) {
      return Fail(fmt::format("rank {}, op {}: members make different calls", rank, id));
    }
    pending.present.emplace_back(rank, id);
    const size_t wanted = op.kind == OpKind::kCollective ? members.size() : 2;
    if (pending.present.size() > wanted) {
      return Fail(fmt::format("rank {}, op {}: more ops than members", rank, id));
    }
    if (pending.present.size() < wanted) return;
    for (const auto& [member, op_id] : pending.present) {
      ranks_[static_cast<size_t>(member)].done[op_id] = true;
    }
  }

  void Fail(std::string mistake) {
    if (mistake_.empty()) mistake_ = std::move(mistake);
  }

  const Workload& w_;
  std::string mistake_;
  std::vector<Rank> ranks_;
  std::map<std::tuple<int, int, int, int>, PendingCall> pending_calls_;
};

// Checks that dependencies are earlier ops of other streams, each listed once, and that indices are
// valid.
inline std::string GraphMistake(const Workload& w) {
  for (const Program& p : w.programs) {
    if (p.dependency_begin.size() != p.ops.size() + 1)
      return "the table of dependencies has another size than that of ops";
    for (size_t i = 0; i < p.ops.size(); ++i) {
      const auto dependencies = p.dependencies(i);
      for (size_t k = 0; k < dependencies.size(); ++k) {
        const uint32_t d = dependencies[k];
        if (d >= i) return fmt::format("op {} waits for a later op", i);
        if (p.ops[d].stream == p.ops[i].stream)
          return fmt::format("op {}: a dependency repeats the stream order", i);
        if (k > 0 && dependencies[k - 1] >= d)
          return fmt::format("op {}: dependencies are not ascending", i);
      }
      const Op& op = p.ops[i];
      const size_t table = op.kind == OpKind::kCompute ? w.blocks.size()
                           : UsesMemory(op.kind)       ? w.transfers.size()
                                                       : w.calls.size();
      if (op.work >= table || op.stream >= w.streams.size())
        return fmt::format("op {}: an index is out of range", i);
    }
  }
  return "";
}

// Checks that the messages between two ranks have distinct tags.
inline std::string TagMistake(const Workload& w) {
  for (const Program& p : w.programs) {
    std::set<std::tuple<OpKind, int, int>> seen;
    for (const Op& op : p.ops) {
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      if (!seen.insert({op.kind, op.role, op.tag}).second) {
        return fmt::format("tag {} of '{}' comes twice", op.tag, w.roles[op.role].name);
      }
    }
  }
  return "";
}

// Checks that the table lists exactly the uses of the ops, each once.
inline std::string UseMistake(const Workload& w) {
  std::set<std::pair<uint32_t, uint32_t>> expected, listed;
  for (int rank = 0; rank < w.rank_count(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    for (const Op& op : w.programs[static_cast<size_t>(w.class_of_rank[r])].ops) {
      if (!IsCommunication(op.kind)) continue;
      expected.emplace(op.work, static_cast<uint32_t>(w.group_of_rank[op.role][r]));
    }
  }
  for (const Workload::Use& use : w.uses) {
    if (!listed.emplace(use.call, use.group).second) return "a use is listed twice";
  }
  return listed == expected ? "" : "the listed uses are not those of the ops";
}

inline std::string StructureMistake(const Workload& w) {
  for (const auto& find : {GraphMistake, TagMistake, UseMistake}) {
    if (std::string mistake = find(w); !mistake.empty()) return mistake;
  }
  // workload-gen checks the same by another algorithm.
  if (const CheckReport report = CheckWorkload(w); report.violations.count() > 0) {
    return report.violations.texts().front();
  }
  return Executor(w).Run();
}

inline std::string Set(const std::string& key, int64_t value) {
  return key + "=" + std::to_string(value);
}
inline std::string Flag(const std::string& key, bool value) {
  return key + (value ? "=true" : "=false");
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TESTING_STRUCTURE_TESTING_H_
