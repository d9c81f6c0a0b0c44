#include "simccl/tokens/token_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "simccl/planner/call_shape.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

constexpr int kWarps = 32;
// What crosses the network moves in slices, so that the NIC starts before the last token is there.
constexpr int64_t kSliceBytes = 512 * 1024;
constexpr int kSlices = 8;

class Exchange {
 public:
  Exchange(const CommCall& call, std::span<const Placement::Slot> members, const Topology& topology,
           const TokenCosts& costs)
      : call_(call),
        members_(members),
        topology_(topology),
        costs_(costs),
        ranks_(call.group_size),
        element_(SizeOf(call.type).count()) {}

  Plan Write() {
    plan_.name = NameOf(call_);
    plan_.members.resize(static_cast<size_t>(ranks_));
    Work& work = plan_.works.front();
    work.algorithm = AlgorithmOf(call_.buffers);
    work.channels = call_.sms;
    work.warps = kWarps;
    work.start = costs_.start;
    work.rate = costs_.rate;
    if (CrossesHosts()) {
      work.start = costs_.start_between_hosts;
      work.rate = costs_.rate_between_hosts;
      work.slice_bytes = kSliceBytes;
      work.slices = kSlices;
    }
    for (int m = 0; m < ranks_; ++m) SetOffsets(m);
    connections_.assign(static_cast<size_t>(ranks_) * static_cast<size_t>(ranks_), 0);
    for (int m = 0; m < ranks_; ++m) AddSends(m);
    for (int m = 0; m < ranks_; ++m) AddReceives(m);
    return std::move(plan_);
  }

 private:
  static Algorithm AlgorithmOf(BufferKind buffers) {
    if (buffers == BufferKind::kHybridEp) return Algorithm::kHybridEp;
    const bool low_latency = buffers == BufferKind::kDeepEpLowLatency;
    return low_latency ? Algorithm::kDeepEpLowLatency : Algorithm::kDeepEp;
  }

  size_t PairOf(int from, int to) const {
    return static_cast<size_t>(from) * static_cast<size_t>(ranks_) + static_cast<size_t>(to);
  }
  int64_t BytesOf(int from, int to) const { return call_.pair_counts[PairOf(from, to)] * element_; }
  const Placement::Slot& SlotOf(int member) const { return members_[static_cast<size_t>(member)]; }
  bool Inside(int a, int b) const { return SlotOf(a).host == SlotOf(b).host; }

  bool CrossesHosts() const {
    for (int from = 0; from < ranks_; ++from) {
      for (int to = 0; to < ranks_; ++to) {
        if (!Inside(from, to) && BytesOf(from, to) > 0) return true;
      }
    }
    return false;
  }

  // A member's buffers hold the parts of all members without gaps.
  void SetOffsets(int member) {
    int64_t out = 0, in = 0;
    for (int peer = 0; peer < ranks_; ++peer) {
      sent_at_.push_back(out);
      received_at_.push_back(in);
      out += BytesOf(member, peer);
      in += BytesOf(peer, member);
    }
  }

  // The peers with which `member` exchanges data, in cyclic order, other hosts first, and of those
  // the members with its own place first, so that no NIC gets data from all at once. `sign`: 1 from
  // the next member on, -1 from the previous one on.
  std::vector<int> PeersOf(int member, int sign) const {
    std::vector<int> peers;
    for (const bool inside : {false, true}) {
      for (int hop = 1; hop < ranks_; ++hop) {
        const int peer = ((member + sign * hop) % ranks_ + ranks_) % ranks_;
        const int64_t bytes = sign > 0 ? BytesOf(member, peer) : BytesOf(peer, member);
        if (bytes > 0 && Inside(member, peer) == inside) peers.push_back(peer);
      }
      if (inside) continue;
      std::stable_sort(peers.begin(), peers.end(), [&](int a, int b) {
        return PlaceFrom(member, a, sign) < PlaceFrom(member, b, sign);
      });
    }
    return peers;
  }

  // How many places after `member` a peer comes on its host, or before it if `sign` is -1.
  int PlaceFrom(int member, int peer, int sign) const {
    const int gpus = topology_.kind_of_host(SlotOf(peer).host).gpus;
    const int places = sign * (SlotOf(peer).gpu - SlotOf(member).gpu);
    return (places % gpus + gpus) % gpus;
  }

  uint32_t Connect(int from, int to) {
    Connection c;
    c.from = static_cast<uint16_t>(from);
    c.to = static_cast<uint16_t>(to);
    c.direct = true;
    if (!Inside(from, to)) {
      c.link = LinkKind::kNet;
      c.send_nic = NicOf(from);
      c.recv_nic = NicOf(to);
    }
    plan_.connections.push_back(c);
    return static_cast<uint32_t>(plan_.connections.size()) - 1;
  }

  int16_t NicOf(int member) const {
    const Placement::Slot& slot = SlotOf(member);
    return static_cast<int16_t>(topology_.kind_of_host(slot.host).NicOfGpu(slot.gpu));
  }

  // Sends to the peers and copies the member's own tokens.
  void AddSends(int member) {
    PatternWriter steps;
    std::vector<uint32_t> operands;
    for (const int peer : PeersOf(member, 1)) {
      const uint32_t slot = static_cast<uint32_t>(operands.size());
      operands.push_back(connections_[PairOf(member, peer)] = Connect(member, peer));
      steps.JoinedStep({}, {slot, 1}, BytesOf(member, peer), sent_at_[PairOf(member, peer)],
                       Local::kNone, slot == 0);
    }
    const size_t own = PairOf(member, member);
    if (BytesOf(member, member) > 0) {
      steps.Step({}, {}, BytesOf(member, member), received_at_[own], Local::kStore);
    }
    AddProgram(member, &steps, operands);
  }

  void AddReceives(int member) {
    PatternWriter steps;
    std::vector<uint32_t> operands;
    for (const int peer : PeersOf(member, -1)) {
      const uint32_t slot = static_cast<uint32_t>(operands.size());
      operands.push_back(connections_[PairOf(peer, member)]);
      steps.JoinedStep({slot, 1}, {}, BytesOf(peer, member), received_at_[PairOf(member, peer)],
                       Local::kStore, slot == 0);
    }
    AddProgram(member, &steps, operands);
  }

  void AddProgram(int member, PatternWriter* steps, const std::vector<uint32_t>& operands) {
    ChannelProgram program;
    program.operand_begin = static_cast<uint32_t>(plan_.operands.size());
    Pattern pattern = steps->Take();
    if (pattern.steps.empty()) return;
    const auto found = std::find(plan_.patterns.begin(), plan_.patterns.end(), pattern);
    program.pattern = static_cast<uint32_t>(found - plan_.patterns.begin());
    if (found == plan_.patterns.end()) plan_.patterns.push_back(std::move(pattern));
    plan_.operands.insert(plan_.operands.end(), operands.begin(), operands.end());
    plan_.members[static_cast<size_t>(member)].push_back(program);
  }

  const CommCall& call_;
  const std::span<const Placement::Slot> members_;
  const Topology& topology_;
  const TokenCosts costs_;
  const int ranks_;
  const int64_t element_;
  std::vector<int64_t> sent_at_, received_at_;  // by member and peer, in bytes
  std::vector<uint32_t> connections_;           // by sender and receiver
  Plan plan_;
};

Status CheckNics(std::span<const Placement::Slot> members, const Topology& topology) {
  for (const Placement::Slot& member : members) {
    const HostKind& kind = topology.kind_of_host(member.host);
    if (member.host == members.front().host || kind.nics.count > 0) continue;
    return Error(fmt::format("{} hosts have no NICs to exchange tokens with others", kind.name));
  }
  return OkStatus();
}

class TokenPlanner : public CollectivePlanner {
 public:
  TokenPlanner(const Topology& topology, std::unique_ptr<CollectivePlanner> others)
      : topology_(topology), others_(std::move(others)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override {
    members_.assign(members.begin(), members.end());
    return others_->OpenGroup(members);
  }

  Result<Plan> PlanCall(const CommCall& call) override {
    const bool moves_data = members_.size() > 1 && call.count > 0;
    if (!ExchangesTokens(call.buffers) || !moves_data) return others_->PlanCall(call);
    RETURN_IF_ERROR(CheckCallShape(call, static_cast<int>(members_.size())));
    ASSIGN_OR_RETURN(const TokenCosts costs, CostsOf(call));
    return PlanTokenExchange(call, members_, topology_, costs);
  }

 private:
  Result<TokenCosts> CostsOf(const CommCall& call) {
    if (table_.empty()) {
      ASSIGN_OR_RETURN(table_, LoadTokenCosts());
    }
    const HostKind& kind = topology_.kind_of_host(members_.front().host);
    const GpuSpec& gpu = topology_.gpus[static_cast<size_t>(kind.gpu)];
    const TokenCosts* costs = FindTokenCosts(table_, call.buffers, gpu);
    if (costs == nullptr) return NoTokenCosts(table_, call.buffers, gpu);
    return *costs;
  }

  const Topology& topology_;
  TokenCostTable table_;
  std::unique_ptr<CollectivePlanner> others_;
  std::vector<Placement::Slot> members_;
};

}  // namespace

Result<Plan> PlanTokenExchange(const CommCall& call, std::span<const Placement::Slot> members,
                               const Topology& topology, const TokenCosts& costs) {
  CHECK(static_cast<int>(members.size()) == call.group_size);
  if (call.collective != CollectiveType::kAllToAllV || call.sms < 1) {
    return Error("DeepEP and HybridEP exchange tokens: an all-to-all-v by at least one SM");
  }
  RETURN_IF_ERROR(CheckNics(members, topology));
  return Exchange(call, members, topology, costs).Write();
}

std::unique_ptr<CollectivePlanner> MakeTokenPlanner(const Topology& topology,
                                                    std::unique_ptr<CollectivePlanner> others) {
  return std::make_unique<TokenPlanner>(topology, std::move(others));
}

}  // namespace drydock
