// Trees: chunks are reduced on their way up and copied on their way down. A rank inside the tree
// does both at once, with separate warps; the root turns each chunk around in one primitive.
#include <vector>

#include "simccl/expand.h"
#include "simccl/pattern_writer.h"

namespace drydock {
namespace {

struct Neighbours {
  std::vector<uint32_t> from_children, to_children;
  std::vector<uint32_t> from_parent, to_parent;  // empty at the root
};

Neighbours Connect(const std::vector<hacknccl_tree>& tree, int rank, int channel,
                   PlanBuilder* builder) {
  Neighbours out;
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

void ExpandRank(const hacknccl_collective& work, const std::vector<hacknccl_tree>& tree, int rank,
                int channel, PlanBuilder* builder) {
  const Neighbours links = Connect(tree, rank, channel, builder);
  const ChannelShare share = ShareOf(work, channel);
  const auto add = [&](const std::vector<uint32_t>& from, const std::vector<uint32_t>& to,
                       Local local) {
    PatternWriter writer;
    writer.Loops(
        share.count * work.element_bytes, share.chunk * work.element_bytes,
        [&](int64_t bytes) { writer.Step(Of(0, from), Of(from.size(), to), bytes, 0, local); });
    std::vector<uint32_t> operands = from;
    operands.insert(operands.end(), to.begin(), to.end());
    builder->AddProgram(rank, channel, builder->AddPattern(writer.Take()), operands,
                        {.base = share.offset * work.element_bytes});
  };
  if (links.to_parent.empty()) {
    return add(links.from_children, links.to_children, Local::kReduceStore);
  }
  add(links.from_children, links.to_parent,
      links.from_children.empty() ? Local::kNone : Local::kReduce);
  add(links.from_parent, links.to_children, Local::kStore);
}

}  // namespace

Status ExpandTree(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    const std::vector<hacknccl_tree> tree = builder->communicator().Tree(channel);
    for (int rank = 0; rank < builder->members(); ++rank) {
      ExpandRank(work, tree, rank, channel, builder);
    }
  }
  return OkStatus();
}

}  // namespace drydock
