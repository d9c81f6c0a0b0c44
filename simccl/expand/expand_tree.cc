// Trees: chunks are reduced on the way up and copied on the way down. An inner rank does both at
// once with separate warps. The root reduces a chunk and sends it down in one primitive.
#include <map>
#include <tuple>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

struct Neighbors {
  std::vector<uint32_t> from_children, to_children;
  std::vector<uint32_t> from_parent, to_parent;  // empty at the root
};

Neighbors Connect(const std::vector<hacknccl_tree>& tree, int rank, int channel,
                  PlanBuilder* builder) {
  Neighbors out;
  const auto connect = [&](int from, int to) {
    return builder->Connect(HACKNCCL_GRAPH_TREE, channel, from, to);
  };
  const hacknccl_tree& place = tree[static_cast<size_t>(rank)];
  for (const int child : place.down) {
    if (child == -1) continue;
    out.from_children.push_back(connect(child, rank));
    out.to_children.push_back(connect(rank, child));
  }
  if (place.up != -1) {
    out.from_parent.push_back(connect(place.up, rank));
    out.to_parent.push_back(connect(rank, place.up));
  }
  return out;
}

Slots Of(size_t begin, const std::vector<uint32_t>& connections) {
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(connections.size())};
}

// One channel of the tree. Ranks with the same numbers of neighbors share patterns.
class TreeChannel {
 public:
  TreeChannel(const hacknccl_collective& work, int channel, PlanBuilder* builder)
      : bytes_(work.element_bytes),
        share_(ShareOf(work, channel)),
        channel_(channel),
        builder_(builder) {}

  void AddRank(int rank, const Neighbors& links) {
    if (links.to_parent.empty()) {
      return Add(rank, links.from_children, links.to_children, Local::kReduceStore);
    }
    Add(rank, links.from_children, links.to_parent,
        links.from_children.empty() ? Local::kNone : Local::kReduce);
    Add(rank, links.from_parent, links.to_children, Local::kStore);
  }

 private:
  using Ids = std::vector<uint32_t>;

  void Add(int rank, const Ids& from, const Ids& to, Local local) {
    Ids operands = from;
    operands.insert(operands.end(), to.begin(), to.end());
    builder_->AddProgram(rank, channel_, PatternOf(from, to, local), operands,
                         {.base = share_.offset * bytes_});
  }
  uint32_t PatternOf(const Ids& from, const Ids& to, Local local) {
    const auto [known, added] = patterns_.emplace(std::tuple(from.size(), to.size(), local), 0);
    if (added) known->second = builder_->AddPattern(Written(from, to, local));
    return known->second;
  }
  Pattern Written(const Ids& from, const Ids& to, Local local) const {
    PatternWriter writer;
    writer.Loops(share_.count * bytes_, share_.chunk * bytes_, [&](int64_t bytes) {
      writer.Step(Of(0, from), Of(from.size(), to), bytes, 0, local);
    });
    return writer.Take();
  }

  const int64_t bytes_;  // of an element
  const ChannelShare share_;
  const int channel_;
  PlanBuilder* builder_;
  std::map<std::tuple<size_t, size_t, Local>, uint32_t> patterns_;
};

}  // namespace

Status ExpandTree(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    builder->BeginChannel(work, channel);
    const std::vector<hacknccl_tree> tree = builder->communicator().Tree(channel);
    TreeChannel expanded(work, channel, builder);
    for (int rank = 0; rank < builder->members(); ++rank) {
      expanded.AddRank(rank, Connect(tree, rank, channel, builder));
    }
  }
  return OkStatus();
}

}  // namespace drydock
