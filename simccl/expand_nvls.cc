// NVLS: reduction and multicast in the NVSwitches. Each head (a rank with its own share of every
// chunk) has a multicast object. On every channel a rank scatters its data to the heads and gathers
// results from them, with separate warps, while the heads reduce and broadcast; between hosts the
// heads of equal index form trees.
#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "simccl/expand.h"

namespace drydock {
namespace {

using Local = PlanBuilder::Local;

// The ranks of one host in the terms of one channel.
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

// One channel of one host.
class NvlsChannel {
 public:
  // The last, shorter loop is cut in multiples of `last_grain` bytes.
  NvlsChannel(const hacknccl_collective& work, const Domain& domain, int channel,
              int64_t last_grain, PlanBuilder* builder)
      : work_(work),
        domain_(domain),
        channel_(channel),
        share_(ShareOf(work, channel)),
        last_grain_(last_grain / work.element_bytes),
        builder_(builder) {}

  // All members hand their data to the heads.
  void Scatter() {
    for (const int member : domain_.members) {
      PlanBuilder::Program program = builder_->AddProgram(member, channel_);
      ForEachLoop([&](int64_t done, int64_t chunk) {
        for (size_t h = 0; h < domain_.heads.size(); ++h) {
          const uint32_t to_head[] = {ToHead(member, h)};
          program.JoinedStep({}, to_head, Bytes(done, chunk, h), Offset(done, chunk, h),
                             Local::kNone, h == 0);
        }
      });
    }
  }

  // All members take the results.
  void Gather() {
    for (const int member : domain_.members) {
      PlanBuilder::Program program = builder_->AddProgram(member, channel_);
      ForEachLoop([&](int64_t done, int64_t chunk) {
        for (size_t h = 0; h < domain_.heads.size(); ++h) {
          const uint32_t from_head[] = {FromHead(member, h)};
          program.JoinedStep(from_head, {}, Bytes(done, chunk, h), Offset(done, chunk, h),
                             Local::kStore, h == 0);
        }
      });
    }
  }

  // The head's chunk of every loop, from `receives` to `sends`.
  void Head(size_t h, const std::vector<uint32_t>& receives, const std::vector<uint32_t>& sends,
            Local local) {
    PlanBuilder::Program program = builder_->AddProgram(domain_.heads[h], channel_);
    ForEachLoop([&](int64_t done, int64_t chunk) {
      program.Step(receives, sends, Bytes(done, chunk, h), Offset(done, chunk, h), local);
    });
  }

  std::vector<uint32_t> FromMembers(size_t h) {
    std::vector<uint32_t> ids;
    for (const int member : domain_.members) ids.push_back(ToHead(member, h));
    return ids;
  }
  std::vector<uint32_t> ToMembers(size_t h) {
    std::vector<uint32_t> ids;
    for (const int member : domain_.members) ids.push_back(FromHead(member, h));
    return ids;
  }

 private:
  uint32_t ToHead(int member, size_t h) {
    return builder_->ConnectNvls(channel_, member, domain_.heads[h], PlanBuilder::Nvls::kToHead);
  }
  uint32_t FromHead(int member, size_t h) {
    return builder_->ConnectNvls(channel_, member, domain_.heads[h], PlanBuilder::Nvls::kFromHead);
  }

  template <typename Body>
  void ForEachLoop(const Body& body) {
    const auto heads = static_cast<int64_t>(domain_.heads.size());
    const int64_t loop = heads * share_.chunk;
    for (int64_t done = 0; done < share_.count; done += loop) {
      const int64_t rest = share_.count - done;
      int64_t chunk = share_.chunk;
      if (rest < loop) {
        const int64_t part = (rest + heads - 1) / heads;
        chunk = (part + last_grain_ - 1) / last_grain_ * last_grain_;
      }
      body(done, chunk);
    }
  }
  int64_t Bytes(int64_t done, int64_t chunk, size_t h) const {
    const int64_t rest = share_.count - done - static_cast<int64_t>(h) * chunk;
    return std::clamp<int64_t>(rest, 0, chunk) * work_.element_bytes;
  }
  int64_t Offset(int64_t done, int64_t chunk, size_t h) const {
    return (share_.offset + done + static_cast<int64_t>(h) * chunk) * work_.element_bytes;
  }

  const hacknccl_collective& work_;
  const Domain& domain_;
  int channel_;
  ChannelShare share_;
  int64_t last_grain_;
  PlanBuilder* builder_;
};

// All-gather and reduce-scatter on one host, where every rank is a head: each owns one part of
// `count` elements instead of a chunk of every loop.
class NvlsParts {
 public:
  NvlsParts(const hacknccl_collective& work, const Domain& domain, int channel,
            PlanBuilder* builder)
      : work_(work), domain_(domain), channel_(channel), builder_(builder) {}

  void AllGather() {
    for (size_t h = 0; h < domain_.heads.size(); ++h) {
      std::vector<uint32_t> to_members;
      for (const int member : domain_.members) to_members.push_back(Connect(h, member));
      PlanBuilder::Program send = builder_->AddProgram(domain_.heads[h], channel_);
      ForEachChunk([&](int64_t at, int64_t count) {
        send.Step({}, to_members, Scaled(count), Scaled(PartOf(h) + at), Local::kNone);
      });
    }
    EachMember([this](int member, PlanBuilder::Program* program, int64_t at, int64_t count) {
      for (size_t h = 0; h < domain_.heads.size(); ++h) {
        const uint32_t from[] = {Connect(h, member)};
        program->JoinedStep(from, {}, Scaled(count), Scaled(PartOf(h) + at), Local::kStore, h == 0);
      }
    });
  }

  void ReduceScatter() {
    EachMember([this](int member, PlanBuilder::Program* program, int64_t at, int64_t count) {
      for (size_t h = 0; h < domain_.heads.size(); ++h) {
        const uint32_t to[] = {Contribute(member, h)};
        program->JoinedStep({}, to, Scaled(count), Scaled(PartOf(h) + at), Local::kNone, h == 0);
      }
    });
    for (size_t h = 0; h < domain_.heads.size(); ++h) {
      std::vector<uint32_t> from_members;
      for (const int member : domain_.members) from_members.push_back(Contribute(member, h));
      PlanBuilder::Program reduce = builder_->AddProgram(domain_.heads[h], channel_);
      ForEachChunk([&](int64_t at, int64_t count) {
        reduce.Step(from_members, {}, Scaled(count), Scaled(PartOf(h) + at), Local::kReduceStore);
      });
    }
  }

 private:
  uint32_t Connect(size_t h, int member) {
    return builder_->ConnectNvls(channel_, member, domain_.heads[h], PlanBuilder::Nvls::kFromHead);
  }
  uint32_t Contribute(int member, size_t h) {
    return builder_->ConnectNvls(channel_, member, domain_.heads[h], PlanBuilder::Nvls::kToHead);
  }
  int64_t Scaled(int64_t elements) const { return elements * work_.element_bytes; }
  int64_t PartOf(size_t h) const { return domain_.heads[h] * static_cast<int64_t>(work_.count); }
  template <typename Body>
  void ForEachChunk(const Body& body) {
    const ChannelShare share = ShareOf(work_, channel_);
    for (int64_t done = 0; done < share.count; done += share.chunk) {
      body(share.offset + done, std::min(share.chunk, share.count - done));
    }
  }
  template <typename Body>
  void EachMember(const Body& body) {
    for (const int member : domain_.members) {
      PlanBuilder::Program program = builder_->AddProgram(member, channel_);
      ForEachChunk([&](int64_t at, int64_t count) { body(member, &program, at, count); });
    }
  }

  const hacknccl_collective& work_;
  const Domain& domain_;
  int channel_;
  PlanBuilder* builder_;
};

std::vector<uint32_t> Joined(std::vector<uint32_t> a, const std::vector<uint32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The head `h` of a host in its tree over the hosts.
void ExpandTreeHead(const hacknccl_nvls& place, int rank, size_t h, int channel, NvlsChannel* host,
                    PlanBuilder* builder) {
  const auto connect = [&](int from, int to) {
    return builder->Connect(HACKNCCL_GRAPH_NVLS, channel, from, to);
  };
  std::vector<uint32_t> from_children, to_children;
  for (const int child : place.tree_down) {
    if (child == -1) continue;
    from_children.push_back(connect(child, rank));
    to_children.push_back(connect(rank, child));
  }
  const std::vector<uint32_t> sources = Joined(host->FromMembers(h), from_children);
  const std::vector<uint32_t> targets = Joined(host->ToMembers(h), to_children);
  if (place.tree_up == -1) {
    host->Head(h, sources, targets, Local::kReduce);
    return;
  }
  host->Head(h, sources, {connect(rank, place.tree_up)}, Local::kReduce);
  host->Head(h, {connect(place.tree_up, rank)}, targets, Local::kNone);
}

constexpr int64_t kLastGrainNvls = 16384;  // all_reduce.h: multiples of these bytes
constexpr int64_t kLastGrainNvlsTree = 16;

}  // namespace

Status ExpandNvls(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    const std::vector<Domain> domains = Domains(*builder, builder->communicator().Nvls(channel));
    CHECK_NOTE(domains.size() == 1, "NVLS without a network joins the ranks of one host");
    const Domain& domain = domains[0];
    if (work.function == HACKNCCL_ALL_REDUCE) {
      NvlsChannel host(work, domain, channel, kLastGrainNvls, builder);
      host.Scatter();
      host.Gather();
      for (size_t h = 0; h < domain.heads.size(); ++h) {
        host.Head(h, host.FromMembers(h), host.ToMembers(h), Local::kReduce);
      }
    } else if (work.function == HACKNCCL_ALL_GATHER) {
      NvlsParts(work, domain, channel, builder).AllGather();
    } else {
      CHECK(work.function == HACKNCCL_REDUCE_SCATTER);
      NvlsParts(work, domain, channel, builder).ReduceScatter();
    }
  }
  return OkStatus();
}

Status ExpandNvlsTree(const hacknccl_collective& work, PlanBuilder* builder) {
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    const std::vector<hacknccl_nvls> nvls = builder->communicator().Nvls(channel);
    for (const Domain& domain : Domains(*builder, nvls)) {
      NvlsChannel host(work, domain, channel, kLastGrainNvlsTree, builder);
      host.Scatter();
      host.Gather();
      for (size_t h = 0; h < domain.heads.size(); ++h) {
        const int rank = domain.heads[h];
        ExpandTreeHead(nvls[static_cast<size_t>(rank)], rank, h, channel, &host, builder);
      }
    }
  }
  return OkStatus();
}

}  // namespace drydock
