// Rings. A member at position i of a channel's ring receives from position i-1 and sends to i+1.
#include <algorithm>
#include <array>
#include <vector>

#include "core/base/check.h"
#include "simccl/expand.h"

namespace drydock {
namespace {

using Local = PlanBuilder::Local;

// One member on one channel.
class RingMember {
 public:
  RingMember(const hacknccl_collective& work, const std::vector<int>& ring, size_t position,
             uint32_t from_previous, uint32_t to_next, int channel, PlanBuilder* builder)
      : work_(work),
        ring_(ring),
        position_(static_cast<int>(position)),
        receive_{from_previous},
        send_{to_next},
        share_(ShareOf(work, channel)),
        program_(builder->AddProgram(ring[position], channel)) {}

  void Run() {
    switch (work_.function) {
      case HACKNCCL_ALL_REDUCE:
        return AllReduce();
      case HACKNCCL_ALL_GATHER:
        return ForEachChunk([this](int64_t at, int64_t count) { AllGather(at, count); });
      case HACKNCCL_REDUCE_SCATTER:
        return ForEachChunk([this](int64_t at, int64_t count) { ReduceScatter(at, count); });
      case HACKNCCL_BROADCAST:
        return ForEachChunk([this](int64_t at, int64_t count) { Broadcast(at, count); });
      default:
        return ForEachChunk([this](int64_t at, int64_t count) { Reduce(at, count); });
    }
  }

 private:
  int ranks() const { return static_cast<int>(ring_.size()); }
  // The rank `ahead` positions further along the ring.
  int Ahead(int ahead) const {
    return ring_[static_cast<size_t>((position_ + ahead + ranks()) % ranks())];
  }

  void Send(int64_t at, int64_t count, Local local) { Add({}, send_, at, count, local); }
  void Pass(int64_t at, int64_t count, Local local) { Add(receive_, send_, at, count, local); }
  void Take(int64_t at, int64_t count, Local local) { Add(receive_, {}, at, count, local); }
  void Add(std::span<const uint32_t> receives, std::span<const uint32_t> sends, int64_t at,
           int64_t count, Local local) {
    program_.Step(receives, sends, count * work_.element_bytes, at * work_.element_bytes, local);
  }

  template <typename Body>
  void ForEachChunk(const Body& body) {
    for (int64_t done = 0; done < share_.count; done += share_.chunk) {
      body(share_.offset + done, std::min(share_.chunk, share_.count - done));
    }
  }

  // Each loop cuts the data into a chunk a rank: once around to reduce, once to hand out.
  void AllReduce() {
    const int n = ranks();
    int64_t chunk = share_.chunk;
    const int64_t loop = chunk * n;
    for (int64_t done = 0; done < share_.count; done += loop) {
      const int64_t rest = share_.count - done;
      if (rest < loop) chunk = EvenChunk(rest);
      const auto at = [&](int which) { return share_.offset + done + Index(which) * chunk; };
      const auto count = [&](int which) { return std::min(chunk, rest - Index(which) * chunk); };
      Send(at(n - 1), count(n - 1), Local::kNone);
      for (int j = 2; j < n; ++j) Pass(at(n - j), count(n - j), Local::kReduce);
      Pass(at(0), count(0), Local::kReduceStore);
      for (int j = 1; j < n - 1; ++j) Pass(at(n - j), count(n - j), Local::kStore);
      Take(at(1), count(1), Local::kStore);
    }
  }
  int64_t Index(int which) const { return (position_ + which) % ranks(); }
  // The last, shorter loop: equal parts, in whole 16 B loads.
  int64_t EvenChunk(int64_t count) const {
    const int64_t grain = 16 / work_.element_bytes;
    const int64_t part = (count + ranks() - 1) / ranks();
    return (part + grain - 1) / grain * grain;
  }

  // `count` is one rank's contribution; rank r's stands at r * count.
  int64_t Of(int rank) const { return rank * static_cast<int64_t>(work_.count); }
  void AllGather(int64_t at, int64_t count) {
    Send(Of(Ahead(0)) + at, count, Local::kStore);
    for (int j = 1; j < ranks() - 1; ++j) Pass(Of(Ahead(-j)) + at, count, Local::kStore);
    Take(Of(Ahead(1)) + at, count, Local::kStore);
  }
  void ReduceScatter(int64_t at, int64_t count) {
    Send(Of(Ahead(-1)) + at, count, Local::kNone);
    for (int j = 2; j < ranks(); ++j) Pass(Of(Ahead(-j)) + at, count, Local::kReduce);
    Take(Of(Ahead(0)) + at, count, Local::kReduceStore);
  }
  void Broadcast(int64_t at, int64_t count) {
    if (Ahead(0) == work_.root) {
      Send(at, count, Local::kStore);
    } else if (Ahead(1) == work_.root) {
      Take(at, count, Local::kStore);
    } else {
      Pass(at, count, Local::kStore);
    }
  }
  void Reduce(int64_t at, int64_t count) {
    if (Ahead(-1) == work_.root) {
      Send(at, count, Local::kNone);
    } else if (Ahead(0) == work_.root) {
      Take(at, count, Local::kReduceStore);
    } else {
      Pass(at, count, Local::kReduce);
    }
  }

  const hacknccl_collective& work_;
  const std::vector<int>& ring_;
  int position_;
  std::array<uint32_t, 1> receive_, send_;
  ChannelShare share_;
  PlanBuilder::Program program_;
};

}  // namespace

Status ExpandRing(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    const std::vector<int> ring = builder->communicator().Ring(channel);
    std::vector<uint32_t> to_next;
    for (size_t i = 0; i < ring.size(); ++i) {
      const int next = ring[(i + 1) % ring.size()];
      to_next.push_back(builder->Connect(HACKNCCL_GRAPH_RING, channel, ring[i], next));
    }
    for (size_t i = 0; i < ring.size(); ++i) {
      const uint32_t from_previous = to_next[(i + ring.size() - 1) % ring.size()];
      RingMember(work, ring, i, from_previous, to_next[i], channel, builder).Run();
    }
  }
  return OkStatus();
}

}  // namespace drydock
