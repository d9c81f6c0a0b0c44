// Trees: chunks are reduced on their way up and copied on their way down. A rank inside the tree
// does both at once, with separate warps; the root turns each chunk around in one primitive.
#include <algorithm>
#include <array>
#include <vector>

#include "simccl/expand.h"

namespace drydock {
namespace {

using Local = PlanBuilder::Local;

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

void ExpandRank(const hacknccl_collective& work, const std::vector<hacknccl_tree>& tree, int rank,
                int channel, PlanBuilder* builder) {
  const Neighbours links = Connect(tree, rank, channel, builder);
  const ChannelShare share = ShareOf(work, channel);
  const auto for_each_chunk = [&](const auto& body) {
    for (int64_t done = 0; done < share.count; done += share.chunk) {
      const int64_t count = std::min(share.chunk, share.count - done);
      body(count * work.element_bytes, (share.offset + done) * work.element_bytes);
    }
  };
  if (links.to_parent.empty()) {
    PlanBuilder::Program turn = builder->AddProgram(rank, channel);
    for_each_chunk([&](int64_t bytes, int64_t offset) {
      turn.Step(links.from_children, links.to_children, bytes, offset, Local::kReduceStore);
    });
    return;
  }
  const Local up_local = links.from_children.empty() ? Local::kNone : Local::kReduce;
  PlanBuilder::Program up = builder->AddProgram(rank, channel);
  PlanBuilder::Program down = builder->AddProgram(rank, channel);
  for_each_chunk([&](int64_t bytes, int64_t offset) {
    up.Step(links.from_children, links.to_parent, bytes, offset, up_local);
    down.Step(links.from_parent, links.to_children, bytes, offset, Local::kStore);
  });
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
