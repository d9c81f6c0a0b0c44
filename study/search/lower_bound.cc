#include "study/search/lower_bound.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "study/search/least_times.h"
#include "study/search/passes.h"

namespace drydock {
namespace {

// The ops of some ranks, and what each waits for.
class Paths {
 public:
  Paths(const Workload& workload, const KernelTimes& times, int64_t more)
      : workload_(workload),
        least_(workload, times),
        more_(more),
        covered_(workload.programs.size()) {}

  Time Longest() {
    Time longest;
    for (int rank = 0; rank < workload_.rank_count(); ++rank) {
      if (covered_[least_.ClassOf(rank)]) continue;
      longest = std::max(longest, LongestFrom(rank));
    }
    return longest;
  }

 private:
  struct Node {
    uint32_t waits_for = 0;  // edges into it that are not taken yet
    int32_t receiver = -1;   // of a send: its receive
    Time start, least;       // `least`: its own time
    Time wire;               // from the start of the send to the end of the receive
    Time earliest_end;       // of a receive
    Time rest;               // the longest path from its start to the end
  };
  // Sender, receiver, group, tag.
  using Message = std::tuple<int, int, int, int32_t>;
  using Edge = std::pair<uint32_t, uint32_t>;  // the second starts at the end of the first or later

  // The ranks that `rank` sends to or receives from, and theirs.
  std::vector<int> RanksFrom(int rank) {
    std::vector<int> ranks = {rank};
    std::vector<bool> seen(static_cast<size_t>(workload_.rank_count()));
    seen[static_cast<size_t>(rank)] = true;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const int here = ranks[i];
      covered_[least_.ClassOf(here)] = true;
      std::vector<std::pair<uint8_t, uint32_t>> asked;  // each call once
      for (const Op& op : least_.ProgramOf(here).ops) {
        if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
        const std::pair<uint8_t, uint32_t> call(op.role, op.work);
        if (std::find(asked.begin(), asked.end(), call) != asked.end()) continue;
        asked.push_back(call);
        const auto [sender, receiver] = least_.EndsOf(here, op);
        for (const int other : {sender, receiver}) {
          if (seen[static_cast<size_t>(other)]) continue;
          seen[static_cast<size_t>(other)] = true;
          ranks.push_back(other);
        }
      }
    }
    return ranks;
  }

  Time LongestFrom(int first) {
    const std::vector<int> ranks = RanksFrom(first);
    nodes_.clear();
    edges_.clear();
    sends_.clear();
    receives_.clear();
    std::vector<size_t> base;
    for (const int rank : ranks) {
      base.push_back(nodes_.size());
      AddRank(rank);
    }
    for (const auto& [message, from] : sends_) {
      const std::vector<uint32_t>& to = receives_[message];
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
        nodes_[from[i]].receiver = static_cast<int32_t>(to[i]);
        ++nodes_[to[i]].waits_for;
      }
    }
    GroupEdges();
    Time longest = Relax();
    if (more_ == 0) return longest;
    RelaxBackwards();
    for (size_t i = 0; i < ranks.size(); ++i) {
      longest = std::max(longest, WithMore(ranks[i], base[i]));
    }
    return longest;
  }

  void AddRank(int rank) {
    const Program& program = least_.ProgramOf(rank);
    const auto base = static_cast<uint32_t>(nodes_.size());
    nodes_.resize(base + program.ops.size());
    std::vector<int64_t> last_of_stream(workload_.streams.size(), -1);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      const auto here = base + static_cast<uint32_t>(i);
      nodes_[here].least = least_.Of(rank, op);
      for (const uint32_t dependency : program.dependencies(i)) {
        edges_.emplace_back(base + dependency, here);
      }
      int64_t& last = last_of_stream[op.stream];
      if (last >= 0) edges_.emplace_back(static_cast<uint32_t>(last), here);
      last = here;
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      const auto [sender, receiver] = least_.EndsOf(rank, op);
      const Message message(sender, receiver, least_.GroupOf(rank, op), op.tag);
      if (op.kind == OpKind::kSend) {
        nodes_[here].wire = least_.WireTime(op, sender, receiver);
        sends_[message].push_back(here);
      } else {
        receives_[message].push_back(here);
      }
    }
  }

  // Sorts the edges by where they start, in next_ from first_next_ on.
  void GroupEdges() {
    first_next_.assign(nodes_.size() + 1, 0);
    for (const auto& [from, to] : edges_) {
      ++first_next_[from + 1];
      ++nodes_[to].waits_for;
    }
    for (size_t i = 1; i < first_next_.size(); ++i) first_next_[i] += first_next_[i - 1];
    std::vector<uint32_t> at(first_next_.begin(), first_next_.end() - 1);
    next_.resize(edges_.size());
    for (const auto& [from, to] : edges_) next_[at[from]++] = to;
  }

  Time Relax() {
    order_.clear();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].waits_for == 0) order_.push_back(static_cast<uint32_t>(i));
    }
    Time longest;
    for (size_t i = 0; i < order_.size(); ++i) {
      const uint32_t at = order_[i];
      const Node& node = nodes_[at];
      const Time end = std::max(node.start + node.least, node.earliest_end);
      longest = std::max(longest, end);
      for (uint32_t e = first_next_[at]; e < first_next_[at + 1]; ++e) {
        Node& later = nodes_[next_[e]];
        later.start = std::max(later.start, end);
        if (--later.waits_for == 0) order_.push_back(next_[e]);
      }
      if (node.receiver < 0) continue;
      Node& receive = nodes_[static_cast<size_t>(node.receiver)];
      receive.earliest_end = std::max(receive.earliest_end, node.start + node.wire);
      if (--receive.waits_for == 0) order_.push_back(static_cast<uint32_t>(node.receiver));
    }
    return longest;
  }

  // The longest path from the end of a node.
  Time AfterEnd(uint32_t at) const {
    Time after;
    for (uint32_t e = first_next_[at]; e < first_next_[at + 1]; ++e) {
      after = std::max(after, nodes_[next_[e]].rest);
    }
    return after;
  }

  void RelaxBackwards() {
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      Node& node = nodes_[*at];
      node.rest = node.least + AfterEnd(*at);
      if (node.receiver < 0) continue;
      const auto receive = static_cast<uint32_t>(node.receiver);
      node.rest = std::max(node.rest, node.wire + AfterEnd(receive));
    }
  }

  // The longest path through the steady phase of a rank whose nodes begin at `base`.
  Time WithMore(int rank, size_t base) {
    Time lap;
    for (const RankPass& pass : PassesOf(rank, kMicrobatch, &least_)) lap += pass.time;
    Time longest;
    for (const size_t begin : SteadyBegins(least_.ProgramOf(rank))) {
      const Node& node = nodes_[base + begin];
      longest = std::max(longest, node.start + node.rest);
    }
    return longest == Time() ? Time() : longest + lap * more_;
  }

  // The first micro-batch may do more than the others.
  static constexpr int kMicrobatch = 1;

  const Workload& workload_;
  LeastTimes least_;
  const int64_t more_;
  std::vector<bool> covered_;  // by class
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::map<Message, std::vector<uint32_t>> sends_, receives_;
  std::vector<uint32_t> first_next_, next_;
  std::vector<uint32_t> order_;  // in which nodes start
};

}  // namespace

Time LowerBound(const Workload& workload, const KernelTimes& times, int64_t more) {
  return Paths(workload, times, more).Longest();
}

}  // namespace drydock
