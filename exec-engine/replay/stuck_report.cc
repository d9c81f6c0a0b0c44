#include "exec-engine/replay/stuck_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace drydock {
namespace {

constexpr size_t kStuckShown = 8, kChainShown = 16;

// "all-reduce of 50.3 MB over 'tp' (group 3), layer 4, micro-batch 0".
std::string Describe(const Workload& workload, int rank, const Op& op) {
  const CommCall& call = workload.calls[op.work];
  const std::string name = op.kind == OpKind::kSend ? "send"
                           : op.kind == OpKind::kRecv
                               ? "receive"
                               : CollectiveTypeNames()[static_cast<size_t>(call.collective)];
  std::string text = fmt::format("{} of {} over '{}' (group {})", name, ToString(call.bytes()),
                                 workload.roles[op.role].name,
                                 workload.group_of_rank[op.role][static_cast<size_t>(rank)]);
  if (op.layer >= 0) text += fmt::format(", layer {}", op.layer);
  if (op.microbatch >= 0) text += fmt::format(", micro-batch {}", op.microbatch);
  return text;
}

// Follows waits depth first until it meets an op again or has seen all ops.
class Walk {
 public:
  explicit Walk(const std::vector<StuckOp>& stuck)
      : stuck_(stuck),
        mark_(stuck.size(), kNew),
        length_(stuck.size(), 1),
        then_(stuck.size(), kNone) {
    for (size_t i = 0; i < stuck.size(); ++i) ops_of_[stuck[i].rank].push_back(i);
  }

  WaitChain Find() {
    for (size_t i = 0; i < stuck_.size(); ++i) {
      if (mark_[i] == kNew && From(i)) return {path_, true};
    }
    return {Longest(), false};
  }

 private:
  enum Mark : uint8_t { kNew, kOnPath, kDone };
  static constexpr size_t kNone = SIZE_MAX;

  struct Frame {
    size_t op;
    size_t rank = 0, next = 0;  // to visit next: the rank it waits for, and the op of that rank
  };

  // Returns true if path_ is a cycle. Has no recursion, because a chain may visit every rank.
  bool From(size_t start) {
    std::vector<Frame> frames;
    const auto enter = [&](size_t op) {
      mark_[op] = kOnPath;
      frames.push_back({op});
      path_.push_back(op);
    };
    enter(start);
    while (!frames.empty()) {
      size_t next = 0;
      if (!Next(&frames.back(), &next)) {
        const size_t done = frames.back().op;
        mark_[done] = kDone;
        frames.pop_back();
        path_.pop_back();
        if (!frames.empty()) Follow(frames.back().op, done);
      } else if (mark_[next] == kOnPath) {
        path_.erase(path_.begin(), std::find(path_.begin(), path_.end(), next));
        return true;
      } else if (mark_[next] == kDone) {
        Follow(frames.back().op, next);
      } else {
        enter(next);
      }
    }
    return false;
  }

  // `op` waits for `next`, whose longest chain is known.
  void Follow(size_t op, size_t next) {
    if (length_[next] + 1 <= length_[op]) return;
    length_[op] = length_[next] + 1;
    then_[op] = next;
  }

  std::vector<size_t> Longest() const {
    std::vector<size_t> out;
    if (stuck_.empty()) return out;
    const auto first = std::max_element(length_.begin(), length_.end()) - length_.begin();
    for (auto op = static_cast<size_t>(first); op != kNone; op = then_[op]) out.push_back(op);
    return out;
  }

  // Sets *next to the next op for which the op of the frame waits. Returns false if there is none.
  bool Next(Frame* frame, size_t* next) const {
    const std::vector<int>& ranks = stuck_[frame->op].ranks;
    for (; frame->rank < ranks.size(); ++frame->rank, frame->next = 0) {
      const auto ops = ops_of_.find(ranks[frame->rank]);
      if (ops == ops_of_.end() || frame->next == ops->second.size()) continue;
      *next = ops->second[frame->next++];
      return true;
    }
    return false;
  }

  const std::vector<StuckOp>& stuck_;
  std::map<int, std::vector<size_t>> ops_of_;  // by rank
  std::vector<Mark> mark_;
  std::vector<size_t> path_;
  std::vector<size_t> length_, then_;  // of the longest chain from an op if there is no cycle
};

// "rank 0 in op 3 waits for rank 2, which in op 5 waits for rank 0".
std::string ChainText(const std::vector<StuckOp>& stuck) {
  const WaitChain chain = FindChain(stuck);
  if (chain.ops.empty()) return "";
  std::string text = chain.closed ? "\n  in a cycle: " : "\n  in a chain: ";
  for (size_t i = 0; i < std::min(chain.ops.size(), kChainShown); ++i) {
    const StuckOp& op = stuck[chain.ops[i]];
    text += fmt::format("rank {}{} in op {} waits for ", op.rank, i == 0 ? "" : ", which", op.op);
  }
  if (chain.ops.size() > kChainShown) {
    text +=
        fmt::format("{} more ranks, the last of which waits for ", chain.ops.size() - kChainShown);
  }
  const StuckOp& last = stuck[chain.ops.back()];
  if (chain.closed) return text + fmt::format("rank {}", stuck[chain.ops.front()].rank);
  if (last.ranks.empty()) return text + "an unknown rank";
  return text + fmt::format("rank {}, which has ended its program", last.ranks.front());
}

}  // namespace

WaitChain FindChain(const std::vector<StuckOp>& stuck) { return Walk(stuck).Find(); }

Error DeadlockError(const ReplayIndex& index, const std::vector<StuckOp>& stuck, int64_t ended) {
  const Workload& workload = index.workload();
  std::string text = fmt::format("the run cannot finish: {} of {} ops ended, {} wait forever",
                                 ended, index.op_count(), stuck.size());
  for (size_t i = 0; i < std::min(stuck.size(), kStuckShown); ++i) {
    const StuckOp& s = stuck[i];
    text += fmt::format("\n  rank {} in op {} ({}) waits for {}", s.rank, s.op,
                        Describe(workload, s.rank, index.class_of(s.rank).program->ops[s.op]),
                        s.waits_for);
  }
  if (stuck.size() > kStuckShown) {
    text += fmt::format("\n  ... and {} more", stuck.size() - kStuckShown);
  }
  return Error(text + ChainText(stuck));
}

}  // namespace drydock
