// Rings. The member at position i of a channel's ring receives from position i-1 and sends to i+1.
// All members run the same pattern, except in collectives with a root.
#include <array>
#include <span>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

constexpr Slots kNone = {};
constexpr Slots kNext = {0, 1}, kPrevious = {1, 1};

// The loops of a channel whose share is `share`.
class RingLoops {
 public:
  RingLoops(const hacknccl_collective& work, const ChannelShare& share, int ranks)
      : work_(work), share_(share), n_(ranks) {}

  // Each loop cuts the data into one chunk per rank. A chunk goes around once to be reduced and
  // once to be distributed.
  Pattern AllReduce() const {
    PatternWriter writer(n_);
    const int64_t loop = Scaled(share_.chunk) * n_;
    writer.Loops(Scaled(share_.count), loop, [&](int64_t bytes) {
      const int64_t chunk = bytes == loop ? Scaled(share_.chunk) : EvenChunk(bytes);
      const Chunks chunks = {chunk, bytes, 0, chunk};
      writer.Run(kNone, kNext, chunks, n_ - 1, 1, Local::kNone);
      writer.Run(kPrevious, kNext, chunks, n_ - 2, n_ - 2, Local::kReduce);
      writer.Run(kPrevious, kNext, chunks, 0, 1, Local::kReduceStore);
      writer.Run(kPrevious, kNext, chunks, n_ - 1, n_ - 2, Local::kStore);
      writer.Run(kPrevious, kNone, chunks, 1, 1, Local::kStore);
    });
    return writer.Take();
  }

  // `keeps`: stores the member's own part while sending it.
  Pattern AllGather(bool keeps) const {
    PatternWriter writer(n_);
    ForEachChunk(&writer, [&](const Chunks& parts) {
      writer.Run(kNone, kNext, parts, 0, 1, keeps ? Local::kStore : Local::kNone);
      writer.Run(kPrevious, kNext, parts, n_ - 1, n_ - 2, Local::kStore);
      writer.Run(kPrevious, kNone, parts, 1, 1, Local::kStore);
    });
    return writer.Take();
  }
  Pattern OwnPart() const {
    PatternWriter writer(n_);
    ForEachChunk(&writer, [&](const Chunks& parts) {
      writer.Run(kNone, kNone, parts, 0, 1, Local::kStore);
    });
    return writer.Take();
  }
  Pattern ReduceScatter() const {
    PatternWriter writer(n_);
    ForEachChunk(&writer, [&](const Chunks& parts) {
      writer.Run(kNone, kNext, parts, n_ - 1, 1, Local::kNone);
      writer.Run(kPrevious, kNext, parts, n_ - 2, n_ - 2, Local::kReduce);
      writer.Run(kPrevious, kNone, parts, 0, 1, Local::kReduceStore);
    });
    return writer.Take();
  }

  // Broadcast and reduce: one primitive per chunk.
  Pattern Each(bool receives, bool sends, Local local) const {
    const Slots from = {0, receives ? 1u : 0u}, to = {from.count, sends ? 1u : 0u};
    PatternWriter writer;
    writer.Loops(Scaled(share_.count), Scaled(share_.chunk),
                 [&](int64_t bytes) { writer.Step(from, to, bytes, 0, local); });
    return writer.Take();
  }

 private:
  int64_t Scaled(int64_t elements) const { return elements * work_.element_bytes; }
  // Returns the chunk of the last, shorter loop: equal parts of whole 16 B loads.
  int64_t EvenChunk(int64_t bytes) const {
    const int64_t count = bytes / work_.element_bytes;
    const int64_t grain = 16 / work_.element_bytes;
    const int64_t part = (count + n_ - 1) / n_;
    return Scaled((part + grain - 1) / grain * grain);
  }
  // Calls `body` with the same piece of every rank's part.
  template <typename Body>
  void ForEachChunk(PatternWriter* writer, const Body& body) const {
    const int64_t part = Scaled(static_cast<int64_t>(work_.count));
    writer->Loops(Scaled(share_.count), Scaled(share_.chunk), [&](int64_t bytes) {
      body(Chunks{bytes, bytes * n_, 0, part});
    });
  }

  const hacknccl_collective& work_;
  const ChannelShare share_;
  const int n_;
};

// A channel's ring: members by position, and the connection from each to the next.
struct Ring {
  std::vector<int> members;
  std::vector<uint32_t> to_next;

  int size() const { return static_cast<int>(members.size()); }
  uint32_t into(int position) const {
    return to_next[static_cast<size_t>((position + size() - 1) % size())];
  }
  uint32_t out_of(int position) const { return to_next[static_cast<size_t>(position)]; }
};

Ring ConnectRing(int channel, PlanBuilder* builder) {
  Ring ring;
  ring.members = builder->communicator().Ring(channel);
  for (size_t i = 0; i < ring.members.size(); ++i) {
    const int next = ring.members[(i + 1) % ring.members.size()];
    ring.to_next.push_back(builder->Connect(HACKNCCL_GRAPH_RING, channel, ring.members[i], next));
  }
  return ring;
}

// Returns true if NICs gather whole registered buffers: with one GPU per host. Most warps then only
// copy the rank's own part (all_gather.h, isNetOffload).
bool IsOffloaded(const hacknccl_collective& work) {
  constexpr uint64_t kWholeChunk = uint64_t{1} << 30;
  return work.function == HACKNCCL_ALL_GATHER && (work.direct & HACKNCCL_DIRECT_NET) != 0 &&
         work.chunk_lo >= kWholeChunk;
}

// All-reduce, all-gather, reduce-scatter: all members run the same pattern.
void ExpandAround(const hacknccl_collective& work, int channel, const Ring& ring,
                  PlanBuilder* builder) {
  const ChannelShare share = ShareOf(work, channel);
  const RingLoops loops(work, share, ring.size());
  const bool by_rank = work.function != HACKNCCL_ALL_REDUCE;  // chunks are the ranks' parts
  const uint32_t pattern = builder->AddPattern(
      work.function == HACKNCCL_ALL_REDUCE   ? loops.AllReduce()
      : work.function == HACKNCCL_ALL_GATHER ? loops.AllGather(!IsOffloaded(work))
                                             : loops.ReduceScatter());
  PlanBuilder::Place place;
  place.base = share.offset * work.element_bytes;
  if (by_rank) place.order = builder->AddOrder(ring.members);
  for (int i = 0; i < ring.size(); ++i) {
    place.position = static_cast<uint16_t>(i);
    builder->AddProgram(ring.members[static_cast<size_t>(i)], channel, pattern,
                        std::array{ring.out_of(i), ring.into(i)}, place);
    if (!IsOffloaded(work)) continue;
    builder->AddProgram(ring.members[static_cast<size_t>(i)], channel,
                        builder->AddPattern(loops.OwnPart()), {}, place);
  }
}

// Broadcast and reduce: down the ring from its first to its last member.
void ExpandDown(const hacknccl_collective& work, int channel, const Ring& ring,
                PlanBuilder* builder) {
  const ChannelShare share = ShareOf(work, channel);
  const RingLoops loops(work, share, ring.size());
  const bool broadcast = work.function == HACKNCCL_BROADCAST;
  const int n = ring.size();
  int first = 0;  // the root of a broadcast, or the member after the root of a reduce
  while (ring.members[static_cast<size_t>(first)] != work.root) ++first;
  if (!broadcast) first = (first + 1) % n;
  const uint32_t send =
      builder->AddPattern(loops.Each(false, true, broadcast ? Local::kStore : Local::kNone));
  const uint32_t pass =
      builder->AddPattern(loops.Each(true, true, broadcast ? Local::kStore : Local::kReduce));
  const uint32_t take =
      builder->AddPattern(loops.Each(true, false, broadcast ? Local::kStore : Local::kReduceStore));
  PlanBuilder::Place place;
  place.base = share.offset * work.element_bytes;
  for (int i = 0; i < n; ++i) {
    const int member = ring.members[static_cast<size_t>(i)];
    const uint32_t both[] = {ring.into(i), ring.out_of(i)};
    const std::span operands(both);
    if (i == first) {
      builder->AddProgram(member, channel, send, operands.subspan(1), place);
    } else if (i == (first + n - 1) % n) {
      builder->AddProgram(member, channel, take, operands.first(1), place);
    } else {
      builder->AddProgram(member, channel, pass, operands, place);
    }
  }
}

}  // namespace

Status ExpandRing(const hacknccl_collective& work, PlanBuilder* builder) {
  const bool has_root = work.function == HACKNCCL_BROADCAST || work.function == HACKNCCL_REDUCE;
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    builder->BeginChannel(work, channel);
    const Ring ring = ConnectRing(channel, builder);
    (has_root ? ExpandDown : ExpandAround)(work, channel, ring, builder);
  }
  return OkStatus();
}

}  // namespace drydock
