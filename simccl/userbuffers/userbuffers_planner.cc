#include "simccl/userbuffers/userbuffers_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "simccl/planner/call_shape.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

// A thread block has as many threads as CUDA allows, and each loads or stores 16 B at a time.
constexpr int kWarps = 32;
constexpr int64_t kGrain = 16384;  // bytes; the share of a thread block is a multiple

// Builds the plan of one call.
class PlanWriter {
 public:
  PlanWriter(const CommCall& call, Algorithm algorithm, int channels) : call_(call) {
    Work& work = plan_.works.front();
    work.algorithm = algorithm;
    work.channels = channels;
    work.warps = kWarps;
    plan_.members.resize(static_cast<size_t>(call.group_size));
  }

  // Connects the buffers of two members.
  uint32_t Connect(int from, int to, LinkKind link) {
    Connection c;
    c.from = static_cast<uint16_t>(from);
    c.to = static_cast<uint16_t>(to);
    c.link = link;
    c.direct = true;
    plan_.connections.push_back(c);
    return static_cast<uint32_t>(plan_.connections.size()) - 1;
  }

  // The operands of the program are `connections`, in the order of the slots of its steps.
  void AddProgram(int member, int channel, PatternWriter* steps,
                  const std::vector<uint32_t>& connections) {
    ChannelProgram program;
    program.channel = static_cast<uint16_t>(channel);
    program.operand_begin = static_cast<uint32_t>(plan_.operands.size());
    program.pattern = PatternOf(steps->Take());
    plan_.operands.insert(plan_.operands.end(), connections.begin(), connections.end());
    plan_.members[static_cast<size_t>(member)].push_back(program);
  }

  Plan Take() {
    plan_.name = NameOf(call_);
    return std::move(plan_);
  }

 private:
  uint32_t PatternOf(Pattern pattern) {
    const auto found = std::find(plan_.patterns.begin(), plan_.patterns.end(), pattern);
    const auto index = static_cast<uint32_t>(found - plan_.patterns.begin());
    if (found == plan_.patterns.end()) plan_.patterns.push_back(std::move(pattern));
    return index;
  }

  const CommCall& call_;
  Plan plan_;
};

constexpr Slots SlotOf(uint32_t index) { return {index, 1}; }

Plan Messages(const CommCall& call) {
  PlanWriter plan(call, Algorithm::kCopyEngine, 1);
  const std::vector<int64_t> offsets = OffsetsOfParts(call);
  for (size_t p = 0; p < call.parts.size(); ++p) {
    const CommCall& part = call.parts[p];
    const int64_t bytes = part.bytes().count();
    const uint32_t connection = plan.Connect(part.root, part.peer, LinkKind::kPeerWrite);
    PatternWriter send, receive;
    send.Step({}, SlotOf(0), bytes, offsets[p], Local::kNone);
    receive.Step(SlotOf(0), {}, bytes, offsets[p], Local::kStore);
    plan.AddProgram(part.root, 0, &send, {connection});
    plan.AddProgram(part.peer, 0, &receive, {connection});
  }
  return plan.Take();
}

// The bytes of a member's part that one thread block moves.
struct Share {
  int64_t begin = 0, bytes = 0;
};

std::vector<Share> SharesOf(int64_t part) {
  const int64_t even = (part + kUserBufferSms - 1) / kUserBufferSms;
  const int64_t each = (even + kGrain - 1) / kGrain * kGrain;
  std::vector<Share> shares;
  for (int64_t at = 0; at < part; at += each) shares.push_back({at, std::min(each, part - at)});
  return shares;
}

// Each member serves its peers in cyclic order, starting with the next member, so that no two
// members load from, or store to, the same peer at once.
class Collective {
 public:
  explicit Collective(const CommCall& call)
      : members_(call.group_size),
        gathers_(call.collective == CollectiveType::kAllGather),
        part_(call.bytes().count() / call.group_size),
        shares_(SharesOf(part_)),
        plan_(call, Algorithm::kUserBuffers, static_cast<int>(shares_.size())) {}

  Plan Write() {
    for (int channel = 0; channel < static_cast<int>(shares_.size()); ++channel) {
      // By member: the connections that end at it, and the connections that start at it.
      std::vector<std::vector<uint32_t>> to(static_cast<size_t>(members_)),
          from(static_cast<size_t>(members_));
      for (int hop = 1; hop < members_; ++hop) {
        for (int m = 0; m < members_; ++m) {
          const int peer = (m + hop) % members_;
          // The thread block of `m` moves the data: it stores to `peer`, or loads from it.
          const uint32_t c = gathers_ ? plan_.Connect(m, peer, LinkKind::kPeerWrite)
                                      : plan_.Connect(peer, m, LinkKind::kPeerRead);
          (gathers_ ? from : to)[static_cast<size_t>(m)].push_back(c);
          (gathers_ ? to : from)[static_cast<size_t>(peer)].push_back(c);
        }
      }
      for (int m = 0; m < members_; ++m) {
        AddSends(m, channel, from[static_cast<size_t>(m)]);
        AddReceives(m, channel, to[static_cast<size_t>(m)]);
      }
    }
    return plan_.Take();
  }

 private:
  const Share& ShareOf(int channel) const { return shares_[static_cast<size_t>(channel)]; }

  // Sends to the member `hop` places after this one (all-gather) or before it (reduce-scatter).
  void AddSends(int member, int channel, const std::vector<uint32_t>& connections) {
    const Share& share = ShareOf(channel);
    PatternWriter steps;
    for (int hop = 1; hop < members_; ++hop) {
      const int of = gathers_ ? member : (member - hop + members_) % members_;
      steps.JoinedStep({}, SlotOf(static_cast<uint32_t>(hop) - 1), share.bytes,
                       of * part_ + share.begin, Local::kNone, hop == 1);
    }
    plan_.AddProgram(member, channel, &steps, connections);
  }

  void AddReceives(int member, int channel, const std::vector<uint32_t>& connections) {
    const Share& share = ShareOf(channel);
    PatternWriter steps;
    if (gathers_) {  // the member's own part
      steps.Step({}, {}, share.bytes, member * part_ + share.begin, Local::kStore);
    }
    for (int hop = 1; hop < members_; ++hop) {
      const int of = gathers_ ? (member - hop + members_) % members_ : member;
      steps.JoinedStep(SlotOf(static_cast<uint32_t>(hop) - 1), {}, share.bytes,
                       of * part_ + share.begin, gathers_ ? Local::kStore : Local::kReduceStore,
                       hop == 1 && !gathers_);
    }
    plan_.AddProgram(member, channel, &steps, connections);
  }

  const int members_;
  const bool gathers_;
  const int64_t part_;
  const std::vector<Share> shares_;
  PlanWriter plan_;
};

bool AreMessages(const CommCall& call) {
  return call.collective == CollectiveType::kGrouped &&
         std::all_of(call.parts.begin(), call.parts.end(), [](const CommCall& part) {
           return part.collective == CollectiveType::kSendRecv && part.root != part.peer &&
                  part.buffers == BufferKind::kUserBuffers;
         });
}

bool IsCollective(const CommCall& call) {
  return (call.collective == CollectiveType::kAllGather ||
          call.collective == CollectiveType::kReduceScatter) &&
         call.op == ReduceOp::kSum;
}

// Two messages from one member to another would be two programs of a channel without an order.
bool SendsTwice(const CommCall& call) {
  std::vector<std::pair<int, int>> pairs;
  for (const CommCall& part : call.parts) pairs.emplace_back(part.root, part.peer);
  std::sort(pairs.begin(), pairs.end());
  return std::adjacent_find(pairs.begin(), pairs.end()) != pairs.end();
}

class UserBuffersPlanner : public CollectivePlanner {
 public:
  explicit UserBuffersPlanner(std::unique_ptr<CollectivePlanner> others)
      : others_(std::move(others)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override {
    members_.assign(members.begin(), members.end());
    return others_->OpenGroup(members);
  }

  Result<Plan> PlanCall(const CommCall& call) override {
    const bool moves_data = members_.size() > 1 && call.count > 0;
    if (!UsesUserBuffers(call) || !moves_data) return others_->PlanCall(call);
    RETURN_IF_ERROR(CheckCallShape(call, static_cast<int>(members_.size())));
    return PlanUserBuffers(call, members_);
  }

 private:
  std::unique_ptr<CollectivePlanner> others_;
  std::vector<Placement::Slot> members_;
};

}  // namespace

bool UsesUserBuffers(const CommCall& call) {
  return call.buffers == BufferKind::kUserBuffers ||
         std::any_of(call.parts.begin(), call.parts.end(), UsesUserBuffers);
}

Result<Plan> PlanUserBuffers(const CommCall& call, std::span<const Placement::Slot> members) {
  CHECK(static_cast<int>(members.size()) == call.group_size);
  for (const Placement::Slot& member : members) {
    if (member.host == members.front().host) continue;
    return Error("userbuffers: all members must be GPUs of one host, whose memory they map");
  }
  if (AreMessages(call) && !SendsTwice(call)) return Messages(call);
  if (IsCollective(call)) return Collective(call).Write();
  return Error(
      "userbuffers: Transformer Engine has kernels for an all-gather, a reduce-scatter that sums, "
      "and grouped messages with at most one from a member to another");
}

std::unique_ptr<CollectivePlanner> MakeUserBuffersPlanner(
    std::unique_ptr<CollectivePlanner> others) {
  return std::make_unique<UserBuffersPlanner>(std::move(others));
}

}  // namespace drydock
