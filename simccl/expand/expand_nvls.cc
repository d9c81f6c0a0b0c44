// NVLS: reduction and multicast in the NVSwitches. Each head (a rank with its own share of every
// chunk) has a multicast object. On every channel a rank scatters its data to the heads and gathers
// the results with separate warps, while the heads reduce and broadcast. The heads of the same
// index on different hosts form a tree.
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

// The ranks of one host on one channel.
struct Domain {
  std::vector<int> members;
  std::vector<int> heads;  // by head index
};

std::vector<Domain> Domains(const PlanBuilder& builder, const std::vector<hacknccl_nvls>& nvls) {
  const hacknccl_shape& shape = builder.communicator().shape();
  const std::vector<int>& host_of = builder.communicator().hosts();
  std::vector<Domain> domains(static_cast<size_t>(shape.hosts));
  for (int rank = 0; rank < shape.ranks; ++rank) {
    Domain& domain = domains[static_cast<size_t>(host_of[static_cast<size_t>(rank)])];
    domain.members.push_back(rank);
    const int head = nvls[static_cast<size_t>(rank)].head;
    if (head == -1) continue;
    domain.heads.resize(static_cast<size_t>(shape.nvls_heads), -1);
    domain.heads[static_cast<size_t>(head)] = rank;
  }
  return domains;
}

using Ids = std::vector<uint32_t>;
using Nvls = PlanBuilder::Nvls;

Slots Range(size_t begin, size_t count) {
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(count)};
}

// One channel of one host: the connections of its NVLS, and programs over them.
class NvlsHost {
 public:
  NvlsHost(const hacknccl_collective& work, const Domain& domain, int channel, PlanBuilder* builder)
      : work_(work),
        domain_(domain),
        channel_(channel),
        share_(ShareOf(work, channel)),
        even_(EvenShareOf(work, channel, static_cast<int64_t>(domain.heads.size()))),
        builder_(builder) {}

  // Returns the connections of a direction, by member and head. Makes them on first use.
  const Ids& Connections(Nvls direction) {
    Ids& ids = connections_[static_cast<size_t>(direction)];
    if (!ids.empty()) return ids;
    for (const int member : domain_.members) {
      for (const int head : domain_.heads) {
        ids.push_back(builder_->ConnectNvls(member, head, direction));
      }
    }
    return ids;
  }

  size_t heads() const { return domain_.heads.size(); }
  // Returns true if switches join the hosts; every channel then strides over the whole buffer.
  bool joined() const { return work_.even != 0; }
  int64_t total() const { return joined() ? even_.total : Scaled(share_.count); }
  int64_t chunk() const { return joined() ? even_.window / Heads() : Scaled(share_.chunk); }
  int64_t stride() const { return joined() ? even_.stride : Heads() * chunk(); }
  int64_t grain() const { return work_.element_bytes; }
  // All-gather and reduce-scatter: returns the offset of the part of head `h`.
  int64_t PartOf(size_t h) const {
    return Scaled(domain_.heads[h] * static_cast<int64_t>(work_.count));
  }

  // Return the connections of head `h` with all members.
  Ids FromMembers(size_t h) { return WithMembers(h, Nvls::kToHead); }
  Ids ToMembers(size_t h) { return WithMembers(h, Nvls::kFromHead); }

  // Adds a program to every member that runs `pattern` over its connections with the heads.
  void EachMember(Nvls direction, Pattern pattern) {
    const uint32_t index = builder_->AddPattern(std::move(pattern));
    const std::span<const uint32_t> all(Connections(direction));
    for (size_t m = 0; m < domain_.members.size(); ++m) {
      builder_->AddProgram(domain_.members[m], channel_, index, all.subspan(m * heads(), heads()),
                           Base());
    }
  }
  // Adds a program to head `h`; `write` writes its pattern from the connections `from` to `to`.
  template <typename Write>
  void Head(size_t h, const Ids& from, const Ids& to, const Write& write) {
    PatternWriter writer;
    write(&writer, Range(0, from.size()), Range(from.size(), to.size()));
    Ids ids = from;
    ids.insert(ids.end(), to.begin(), to.end());
    builder_->AddProgram(domain_.heads[h], channel_, builder_->AddPattern(writer.Take()), ids,
                         Base());
  }

 private:
  int64_t Scaled(int64_t elements) const { return elements * work_.element_bytes; }
  int64_t Heads() const { return static_cast<int64_t>(heads()); }
  PlanBuilder::Place Base() const {
    return {.base = joined() ? even_.base : Scaled(share_.offset)};
  }
  Ids WithMembers(size_t h, Nvls direction) {
    const Ids& all = Connections(direction);
    Ids ids;
    for (size_t m = 0; m < domain_.members.size(); ++m) ids.push_back(all[m * heads() + h]);
    return ids;
  }

  const hacknccl_collective& work_;
  const Domain& domain_;
  const int channel_;
  const ChannelShare share_;
  const EvenShare even_;
  PlanBuilder* builder_;
  std::array<Ids, 2> connections_;  // by direction
};

// All-reduce: each loop has a chunk for each head.
class NvlsAllReduce {
 public:
  // The last, shorter loop is cut in multiples of `last_grain` bytes, unless hosts are joined.
  NvlsAllReduce(NvlsHost* host, int64_t last_grain)
      : host_(host),
        last_grain_(std::max(last_grain / host->grain(), int64_t{1}) * host->grain()) {}

  // All members send their data to the heads and receive the results.
  void ScatterAndGather() {
    host_->EachMember(Nvls::kToHead,
                      OverHeads([](PatternWriter* writer, size_t h, int64_t bytes, int64_t at) {
                        writer->JoinedStep({}, Range(h, 1), bytes, at, Local::kNone, h == 0);
                      }));
    host_->EachMember(Nvls::kFromHead,
                      OverHeads([](PatternWriter* writer, size_t h, int64_t bytes, int64_t at) {
                        writer->JoinedStep(Range(h, 1), {}, bytes, at, Local::kStore, h == 0);
                      }));
  }

  // Moves the head's chunk of every loop from the connections `receives` to `sends`.
  void Head(size_t h, const Ids& receives, const Ids& sends, Local local) {
    host_->Head(h, receives, sends, [&](PatternWriter* writer, Slots from, Slots to) {
      ForEachLoop(writer, [&](int64_t loop, int64_t chunk) {
        writer->Step(from, to, BytesOf(h, loop, chunk), OffsetOf(h, chunk), local);
      });
    });
  }

 private:
  template <typename Body>
  Pattern OverHeads(const Body& body) const {
    PatternWriter writer;
    ForEachLoop(&writer, [&](int64_t loop, int64_t chunk) {
      for (size_t h = 0; h < host_->heads(); ++h) {
        body(&writer, h, BytesOf(h, loop, chunk), OffsetOf(h, chunk));
      }
    });
    return writer.Take();
  }
  template <typename Body>
  void ForEachLoop(PatternWriter* writer, const Body& body) const {
    const auto heads = static_cast<int64_t>(host_->heads());
    const int64_t loop = heads * host_->chunk();
    writer->Windows(host_->total(), host_->stride(), loop, [&](int64_t bytes) {
      int64_t chunk = host_->chunk();
      if (bytes < loop && !host_->joined()) {
        const int64_t elements = bytes / host_->grain();
        const int64_t part = (elements + heads - 1) / heads * host_->grain();
        chunk = (part + last_grain_ - 1) / last_grain_ * last_grain_;
      }
      body(bytes, chunk);
    });
  }
  static int64_t OffsetOf(size_t h, int64_t chunk) { return static_cast<int64_t>(h) * chunk; }
  static int64_t BytesOf(size_t h, int64_t loop, int64_t chunk) {
    return std::clamp<int64_t>(loop - OffsetOf(h, chunk), 0, chunk);
  }

  NvlsHost* host_;
  const int64_t last_grain_;  // bytes, of whole elements
};

// All-gather and reduce-scatter on one host, where every rank is a head and owns one part instead
// of a chunk of every loop.
class NvlsParts {
 public:
  explicit NvlsParts(NvlsHost* host) : host_(host) {}

  void AllGather() {
    for (size_t h = 0; h < host_->heads(); ++h) {
      host_->Head(h, {}, host_->ToMembers(h), [&](PatternWriter* writer, Slots from, Slots to) {
        ForEachChunk(writer, [&](int64_t bytes) {
          writer->Step(from, to, bytes, host_->PartOf(h), Local::kNone);
        });
      });
    }
    host_->EachMember(Nvls::kFromHead,
                      OverHeads([](PatternWriter* writer, size_t h, int64_t bytes, int64_t at) {
                        writer->JoinedStep(Range(h, 1), {}, bytes, at, Local::kStore, h == 0);
                      }));
  }

  void ReduceScatter() {
    host_->EachMember(Nvls::kToHead,
                      OverHeads([](PatternWriter* writer, size_t h, int64_t bytes, int64_t at) {
                        writer->JoinedStep({}, Range(h, 1), bytes, at, Local::kNone, h == 0);
                      }));
    for (size_t h = 0; h < host_->heads(); ++h) {
      host_->Head(h, host_->FromMembers(h), {}, [&](PatternWriter* writer, Slots from, Slots to) {
        ForEachChunk(writer, [&](int64_t bytes) {
          writer->Step(from, to, bytes, host_->PartOf(h), Local::kReduceStore);
        });
      });
    }
  }

 private:
  template <typename Body>
  void ForEachChunk(PatternWriter* writer, const Body& body) const {
    writer->Loops(host_->total(), host_->chunk(), body);
  }
  template <typename Body>
  Pattern OverHeads(const Body& body) const {
    PatternWriter writer;
    ForEachChunk(&writer, [&](int64_t bytes) {
      for (size_t h = 0; h < host_->heads(); ++h) body(&writer, h, bytes, host_->PartOf(h));
    });
    return writer.Take();
  }

  NvlsHost* host_;
};

Ids Joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Adds the programs of head `h` of a host in its tree over the hosts.
void ExpandTreeHead(const hacknccl_nvls& place, int rank, size_t h, int channel, NvlsHost* host,
                    NvlsAllReduce* all_reduce, PlanBuilder* builder) {
  const auto connect = [&](int from, int to) {
    return builder->Connect(HACKNCCL_GRAPH_NVLS, channel, from, to);
  };
  Ids from_children, to_children;
  for (const int child : place.tree_down) {
    if (child == -1) continue;
    from_children.push_back(connect(child, rank));
    to_children.push_back(connect(rank, child));
  }
  const Ids sources = Joined(host->FromMembers(h), from_children);
  const Ids targets = Joined(host->ToMembers(h), to_children);
  if (place.tree_up == -1) return all_reduce->Head(h, sources, targets, Local::kReduce);
  all_reduce->Head(h, sources, {connect(rank, place.tree_up)}, Local::kReduce);
  all_reduce->Head(h, {connect(place.tree_up, rank)}, targets, Local::kNone);
}

// Adds the programs of head `h` of a host that reaches the other hosts through the switches.
void ExpandJoinedHead(const hacknccl_collnet& place, int rank, size_t h, int channel,
                      NvlsHost* host, NvlsAllReduce* all_reduce, PlanBuilder* builder) {
  using Switch = PlanBuilder::Switch;
  const auto network = [&](Switch direction) {
    return Ids{builder->ConnectSwitch(channel, rank, place, direction)};
  };
  all_reduce->Head(h, host->FromMembers(h), network(Switch::kTo), Local::kReduce);
  all_reduce->Head(h, network(Switch::kFrom), host->ToMembers(h), Local::kNone);
}

Status ExpandJoinedNvls(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    builder->BeginChannel(work, channel);
    const std::vector<hacknccl_nvls> nvls = builder->communicator().Nvls(channel);
    ASSIGN_OR_RETURN(const std::vector<hacknccl_collnet> places,
                     builder->communicator().CollNet(channel));
    for (const Domain& domain : Domains(*builder, nvls)) {
      NvlsHost host(work, domain, channel, builder);
      NvlsAllReduce all_reduce(&host, 1);
      all_reduce.ScatterAndGather();
      for (size_t h = 0; h < domain.heads.size(); ++h) {
        const int rank = domain.heads[h];
        ExpandJoinedHead(places[static_cast<size_t>(rank)], rank, h, channel, &host, &all_reduce,
                         builder);
      }
    }
  }
  return OkStatus();
}

constexpr int64_t kLastGrainNvls = 16384;  // all_reduce.h: multiples of these bytes
constexpr int64_t kLastGrainNvlsTree = 16;

}  // namespace

Status ExpandNvls(const hacknccl_collective& work, PlanBuilder* builder) {
  if (work.even) return ExpandJoinedNvls(work, builder);
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    builder->BeginChannel(work, channel);
    const std::vector<Domain> domains = Domains(*builder, builder->communicator().Nvls(channel));
    CHECK_NOTE(domains.size() == 1, "NVLS without a network joins the ranks of one host");
    const Domain& domain = domains[0];
    NvlsHost host(work, domain, channel, builder);
    if (work.function == HACKNCCL_ALL_REDUCE) {
      NvlsAllReduce all_reduce(&host, kLastGrainNvls);
      all_reduce.ScatterAndGather();
      for (size_t h = 0; h < domain.heads.size(); ++h) {
        all_reduce.Head(h, host.FromMembers(h), host.ToMembers(h), Local::kReduce);
      }
    } else if (work.function == HACKNCCL_ALL_GATHER) {
      NvlsParts(&host).AllGather();
    } else {
      CHECK(work.function == HACKNCCL_REDUCE_SCATTER);
      NvlsParts(&host).ReduceScatter();
    }
  }
  return OkStatus();
}

Status ExpandNvlsTree(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    builder->BeginChannel(work, channel);
    const std::vector<hacknccl_nvls> nvls = builder->communicator().Nvls(channel);
    for (const Domain& domain : Domains(*builder, nvls)) {
      NvlsHost host(work, domain, channel, builder);
      NvlsAllReduce all_reduce(&host, kLastGrainNvlsTree);
      all_reduce.ScatterAndGather();
      for (size_t h = 0; h < domain.heads.size(); ++h) {
        const int rank = domain.heads[h];
        ExpandTreeHead(nvls[static_cast<size_t>(rank)], rank, h, channel, &host, &all_reduce,
                       builder);
      }
    }
  }
  return OkStatus();
}

}  // namespace drydock
