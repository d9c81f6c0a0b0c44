// All-reduce by CollNet: ranks that are joined to the network collect their host's data, and the
// switches sum what the hosts send and return the sum to each host. CollNetChain passes data along
// a chain of the host's ranks that ends at a joined rank. CollNetDirect gives each joined rank
// (head) a share of every chunk, and the other ranks of the host send that share to the head. Every
// channel strides over the whole buffer.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {

namespace {

using Ids = std::vector<uint32_t>;
using Switch = PlanBuilder::Switch;

Slots Of(size_t begin, size_t count) {
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(count)};
}

// One channel of the collective: programs that loop over its share.
class Channel {
 public:
  Channel(const hacknccl_collective& work, int channel, PlanBuilder* builder,
          std::vector<hacknccl_collnet> places, int64_t chunks)
      : channel_(channel),
        chunk_(static_cast<int64_t>(work.chunk_lo)),
        share_(EvenShareOf(work, channel, chunks)),
        places_(std::move(places)),
        builder_(builder) {}

  const hacknccl_collnet& place(int rank) const { return places_[static_cast<size_t>(rank)]; }
  uint32_t Up(int from, int to) const {
    return builder_->Connect(HACKNCCL_GRAPH_COLLNET_UP, channel_, from, to);
  }
  uint32_t Down(int from, int to) const {
    return builder_->Connect(HACKNCCL_GRAPH_COLLNET_DOWN, channel_, from, to);
  }
  uint32_t Network(int rank, Switch direction) const {
    return builder_->ConnectSwitch(channel_, rank, place(rank), direction);
  }

  // Adds a program that calls `write(writer, bytes)` for every loop; the last loop may have fewer
  // bytes. Programs of one `kind` share a pattern. The kind begins with a number that tells the
  // callers apart.
  using Kind = std::vector<int64_t>;
  template <typename Write>
  void Program(int rank, const Ids& operands, Kind kind, const Write& write) {
    const auto [known, added] = patterns_.emplace(std::move(kind), 0);
    if (added) {
      PatternWriter writer;
      writer.Windows(share_.total, share_.stride, share_.window,
                     [&](int64_t bytes) { write(&writer, bytes); });
      known->second = builder_->AddPattern(writer.Take());
    }
    builder_->AddProgram(rank, channel_, known->second, operands, {.base = share_.base});
  }
  // Adds a program that moves chunk `index` of every loop from the connections `from` to `to`.
  void ChunkProgram(int rank, int64_t index, const Ids& from, const Ids& to, Local local) {
    Ids operands = from;
    operands.insert(operands.end(), to.begin(), to.end());
    const auto receives = static_cast<int64_t>(from.size());
    const auto sends = static_cast<int64_t>(to.size());
    const Kind kind = {0, index, receives, sends, static_cast<int64_t>(local)};
    Program(rank, operands, kind, [&](PatternWriter* writer, int64_t bytes) {
      writer->Step(Of(0, from.size()), Of(from.size(), to.size()), ChunkBytes(index, bytes),
                   index * chunk_, local);
    });
  }
  int64_t ChunkBytes(int64_t index, int64_t bytes) const {
    return std::clamp<int64_t>(bytes - index * chunk_, 0, chunk_);
  }
  int64_t chunk() const { return chunk_; }

 private:
  const int channel_;
  const int64_t chunk_;
  const EvenShare share_;
  const std::vector<hacknccl_collnet> places_;
  PlanBuilder* builder_;
  std::map<Kind, uint32_t> patterns_;
};

void ExpandChainRank(int rank, Channel* channel) {
  const hacknccl_collnet& place = channel->place(rank);
  Ids from_below, to_below;
  if (place.chain_down != -1) {
    from_below.push_back(channel->Up(place.chain_down, rank));
    to_below.push_back(channel->Down(rank, place.chain_down));
  }
  const bool top = place.chain_up == -1;
  const Ids to_above = {top ? channel->Network(rank, Switch::kTo)
                            : channel->Up(rank, place.chain_up)};
  const Ids from_above = {top ? channel->Network(rank, Switch::kFrom)
                              : channel->Down(place.chain_up, rank)};
  channel->ChunkProgram(rank, 0, from_below, to_above,
                        from_below.empty() ? Local::kNone : Local::kReduce);
  channel->ChunkProgram(rank, 0, from_above, to_below, Local::kStore);
}

// The ranks of a host, and its heads by index.
struct Side {
  std::vector<int> ranks, heads;
};

// One primitive over all heads except the rank itself. Each rank begins at a different head, so
// that the ranks do not all serve the same head first.
template <typename Connect>
void OverHeads(int rank, const Side& side, bool sends, Channel* channel, const Connect& connect) {
  const hacknccl_collnet& place = channel->place(rank);
  std::vector<int> others;
  for (size_t h = 0; h < side.heads.size(); ++h) {
    if (side.heads[h] != rank) others.push_back(static_cast<int>(h));
  }
  if (others.empty()) return;
  std::rotate(others.begin(), others.begin() + place.shift % static_cast<int>(others.size()),
              others.end());
  Ids operands;
  for (const int h : others) operands.push_back(connect(side.heads[static_cast<size_t>(h)]));
  Channel::Kind kind = {1, sends};
  kind.insert(kind.end(), others.begin(), others.end());
  channel->Program(rank, operands, kind, [&](PatternWriter* writer, int64_t bytes) {
    bool first = true;
    for (size_t i = 0; i < others.size(); ++i) {
      const int64_t part = channel->ChunkBytes(others[i], bytes);
      if (part == 0) continue;
      const Slots one = Of(i, 1), none = Of(0, 0);
      writer->JoinedStep(sends ? none : one, sends ? one : none, part, others[i] * channel->chunk(),
                         sends ? Local::kNone : Local::kStore, std::exchange(first, false));
    }
  });
}

void ExpandDirectRank(int rank, const Side& side, Channel* channel) {
  OverHeads(rank, side, true, channel, [&](int head) { return channel->Up(rank, head); });
  OverHeads(rank, side, false, channel, [&](int head) { return channel->Down(head, rank); });
  const int index = channel->place(rank).head;
  if (index == -1) return;
  Ids from_others, to_others;
  for (const int other : side.ranks) {
    if (other == rank) continue;
    from_others.push_back(channel->Up(other, rank));
    to_others.push_back(channel->Down(rank, other));
  }
  channel->ChunkProgram(rank, index, from_others, {channel->Network(rank, Switch::kTo)},
                        from_others.empty() ? Local::kNone : Local::kReduce);
  channel->ChunkProgram(rank, index, {channel->Network(rank, Switch::kFrom)}, to_others,
                        Local::kStore);
}

std::vector<Side> SidesOf(const PlanBuilder& builder, const std::vector<hacknccl_collnet>& places) {
  const hacknccl_shape& shape = builder.communicator().shape();
  std::vector<Side> sides(static_cast<size_t>(shape.hosts));
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const auto r = static_cast<size_t>(rank);
    Side& side = sides[static_cast<size_t>(builder.communicator().hosts()[r])];
    side.ranks.push_back(rank);
    if (places[r].head == -1) continue;
    const auto head = static_cast<size_t>(places[r].head);
    side.heads.resize(std::max(side.heads.size(), head + 1), -1);
    side.heads[head] = rank;
  }
  return sides;
}

}  // namespace

Status ExpandCollNetChain(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int c = work.channel_lo; c <= work.channel_hi; ++c) {
    builder->BeginChannel(work, c);
    ASSIGN_OR_RETURN(std::vector<hacknccl_collnet> places, builder->communicator().CollNet(c));
    Channel channel(work, c, builder, std::move(places), 1);
    for (int rank = 0; rank < builder->members(); ++rank) ExpandChainRank(rank, &channel);
  }
  return OkStatus();
}

Status ExpandCollNetDirect(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int c = work.channel_lo; c <= work.channel_hi; ++c) {
    builder->BeginChannel(work, c);
    ASSIGN_OR_RETURN(std::vector<hacknccl_collnet> places, builder->communicator().CollNet(c));
    const std::vector<Side> sides = SidesOf(*builder, places);
    const auto heads = static_cast<int64_t>(sides.front().heads.size());
    Channel channel(work, c, builder, std::move(places), heads);
    for (const Side& side : sides) {
      for (const int rank : side.ranks) ExpandDirectRank(rank, side, &channel);
      builder->ForgetConnections();  // hosts share none
    }
  }
  return OkStatus();
}

}  // namespace drydock
