#include <fmt/format.h>

#include <map>
#include <tuple>

#include "core/model/calls/call_numbers.h"
#include "core/model/calls/grouped_call.h"
#include "workload-gen/graph/text/graph_text.h"

namespace drydock {
namespace {

class Builder {
 public:
  Builder(const Workload& workload, const Slice& slice)
      : w_(workload), slice_(slice), names_(SortedNames(workload)) {}

  OpGraph Build() {
    for (const int rank : slice_.ranks()) AddRank(rank);
    for (auto& [key, nodes] : calls_) {
      const auto& [group, number] = key;
      if (nodes.size() < 2) continue;
      const OpGraph::Node& first = graph_.nodes[nodes.front()];
      const Op& op = OpOf(first);
      if (IsPointToPoint(op)) {
        const bool sends = op.kind == OpKind::kSend;
        graph_.edges.push_back(
            {nodes[sends ? 0 : 1], nodes[sends ? 1 : 0], OpGraph::EdgeKind::kMessage});
      } else {
        graph_.collectives.push_back(
            {fmt::format("{} in group {}", NameOf(w_.calls[op.work]), group), std::move(nodes)});
      }
    }
    return std::move(graph_);
  }

 private:
  const Program& ProgramOf(int rank) const {
    return w_.programs[static_cast<size_t>(w_.class_of_rank[static_cast<size_t>(rank)])];
  }
  const Op& OpOf(const OpGraph::Node& node) const { return ProgramOf(node.rank).ops[node.op]; }

  void AddRank(int rank) {
    const Program& program = ProgramOf(rank);
    CallCounter counter(names_);
    std::map<uint32_t, uint32_t> node_of;  // op -> node
    std::vector<int64_t> last(w_.streams.size(), -1);
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      uint64_t number = 0;
      int group = -1;
      if (IsCommunication(op.kind)) {
        group = w_.group_of_rank[op.role][static_cast<size_t>(rank)];
        number = counter.Next(group, op, w_.calls[op.work]);
      }
      if (!slice_.Has(op, i)) continue;
      const auto node = static_cast<uint32_t>(graph_.nodes.size());
      graph_.nodes.push_back({rank, i});
      node_of[i] = node;
      bool after_last = false;
      for (const uint32_t before : program.dependencies(i)) {
        const auto found = node_of.find(before);
        if (found == node_of.end()) continue;
        graph_.edges.push_back({found->second, node, OpGraph::EdgeKind::kData});
        after_last = after_last || found->second == last[op.stream];
      }
      int64_t& on_stream = last[op.stream];
      if (on_stream >= 0 && !after_last) {
        graph_.edges.push_back(
            {static_cast<uint32_t>(on_stream), node, OpGraph::EdgeKind::kStream});
      }
      on_stream = node;
      if (group >= 0) calls_[{group, number}].push_back(node);
    }
  }

  const Workload& w_;
  const Slice& slice_;
  const std::vector<MessageName> names_;
  std::map<std::pair<int, uint64_t>, std::vector<uint32_t>> calls_;  // by group, number
  OpGraph graph_;
};

}  // namespace

OpGraph MakeOpGraph(const Workload& workload, const Slice& slice) {
  return Builder(workload, slice).Build();
}

}  // namespace drydock
