// Messages between pairs. NCCL cuts a message into one part per channel, and a part into chunks.
// The parts of several messages of one group run side by side on a channel, up to eight at a time.
// If a member sends several messages to the same peer, the later ones follow in later epochs.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

constexpr int kWorksPerBatch = 8;  // device.h: NCCL_MAX_DEV_WORK_P2P_PER_BATCH
constexpr int kWarpSize = 32;

struct Part {
  int channel = 0;
  int64_t begin = 0, end = 0;  // bytes of the message
};

// device.h: ncclP2pPartBounds, ncclP2pChannelForPart.
std::vector<Part> PartsOf(int64_t bytes, int parts, int channel_base, int channels) {
  constexpr int64_t kAlignment = 4096;
  const int64_t share = ((bytes + parts - 1) / parts + kAlignment - 1) / kAlignment * kAlignment;
  std::vector<Part> out;
  for (int p = 0; p < parts; ++p) {
    out.push_back({(channel_base + p) & (channels - 1), std::min(p * share, bytes),
                   std::min((p + 1) * share, bytes)});
  }
  return out;
}

// The messages of one batch slot of a member and channel, which run one after another.
struct Lane {
  PatternWriter writer;
  std::vector<uint32_t> operands;
};

// Adds a part of a message over `connection`; none: a copy within the member.
void AddPart(const Part& part, int64_t chunk, int64_t base, std::optional<uint32_t> connection,
             bool is_send, Lane* lane) {
  Slots slot;
  if (connection.has_value()) {
    slot = {static_cast<uint32_t>(lane->operands.size()), 1};
    lane->operands.push_back(*connection);
  }
  const bool sends = connection.has_value() && is_send;
  lane->writer.Loops(part.end - part.begin, chunk, base + part.begin, [&](int64_t bytes) {
    lane->writer.Step(is_send ? Slots() : slot, is_send ? slot : Slots(), bytes, 0,
                      sends ? Local::kNone : Local::kStore);
  });
}

// The order on a channel: kernel by kernel, and within a kernel epoch by epoch. An epoch has at
// most one message from a member to a peer, so a connection carries one message per epoch.
struct Round {
  int kernel = 0, epoch = 0;
  auto operator<=>(const Round&) const = default;
};

// The programs of members on channels in one round. Messages that a batch runs side by side are
// separate programs. The ninth message on a channel follows the first.
class Batches {
 public:
  // Returns the lane of the member's message number `order` on this channel.
  Lane* At(int member, int channel, int order, bool is_send) {
    const std::tuple key(member, channel, order % kWorksPerBatch, is_send);
    const auto [found, added] = lane_of_.emplace(key, lanes_.size());
    if (added) lanes_.push_back({member, channel, {}});
    return &lanes_[found->second].lane;
  }
  // Counts a message. Returns the member's number of messages on the channel so far.
  int Count(int member, int channel) {
    const int count = ++counts_[{member, channel}];
    most_ = std::max(most_, count);
    return count;
  }
  void CountChannels(int channels) { channels_ = std::max(channels_, channels); }

  // Adds all programs to the builder's current work.
  void AddPrograms(int launch, Protocol protocol, int threads, PlanBuilder* builder) {
    Work& work = builder->work();
    work.algorithm = Algorithm::kSendRecv;
    work.protocol = protocol;
    work.launch = launch;
    work.channels = channels_;
    work.warps = threads / kWarpSize / std::min(most_, kWorksPerBatch);
    for (Entry& entry : lanes_) {
      builder->AddProgram(entry.member, entry.channel, entry.lane.writer.Take(),
                          entry.lane.operands);
    }
  }

 private:
  struct Entry {
    int member, channel;
    Lane lane;
  };
  std::vector<Entry> lanes_;
  std::map<std::tuple<int, int, int, bool>, size_t> lane_of_;
  std::map<std::pair<int, int>, int> counts_;
  int most_ = 1, channels_ = 0;
};

// Takes the messages of one member with each peer in the order of its calls.
class Places {
 public:
  Places(const std::vector<MessagePlace>& places, int members)
      : places_(places), taken_(static_cast<size_t>(members), 0) {}
  // Returns the number of messages taken before, and the offset of the next one.
  std::pair<int, int64_t> Take(int peer) {
    const auto first =
        std::lower_bound(places_.begin(), places_.end(), peer,
                         [](const MessagePlace& place, int wanted) { return place.peer < wanted; });
    const int before = taken_[static_cast<size_t>(peer)]++;
    return {before, (first + before)->offset};
  }

 private:
  const std::vector<MessagePlace>& places_;
  std::vector<int> taken_;  // by peer
};

class Expansion {
 public:
  explicit Expansion(PlanBuilder* builder) : builder_(builder) {}

  void AddMember(int member, const MemberCalls& own, const NcclPlan& plan) {
    std::vector<int> kernels(plan.exchanges.size(), 0);
    for (const hacknccl_batch& batch : plan.batches) {
      if (batch.works != HACKNCCL_EXCHANGES) continue;
      for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
        kernels[plan.batch_works[i]] = batch.kernel;
      }
    }
    const int members = builder_->members();
    Places sends(own.sends, members), receives(own.receives, members);
    for (size_t i = 0; i < plan.exchanges.size(); ++i) {
      AddExchange(plan.exchanges[i], member, kernels[i], &sends, &receives);
    }
    threads_ = std::max(threads_, plan.threads);
  }

  // A work has one protocol: Simple if any message between members has it.
  void Finish() {
    bool first = true;
    for (auto& [round, batches] : rounds_) {
      if (!std::exchange(first, false)) builder_->NextWork();
      batches.AddPrograms(round.kernel, simple_ ? Protocol::kSimple : Protocol::kLl, threads_,
                          builder_);
    }
    if (!rounds_.empty()) return;  // otherwise there is no message
    Batches().AddPrograms(builder_->work().launch, Protocol::kLl, threads_, builder_);
  }

 private:
  struct Message {
    int peer = 0;
    int64_t bytes = 0, chunk = 0, base = 0;
    int parts = 0;
    bool is_send = false;
    int direct = 0;
  };

  // Adds what one member's kernel does in one round of NCCL's schedule.
  void AddExchange(const hacknccl_exchange& exchange, int member, int kernel, Places* sends,
                   Places* receives) {
    Round round = {kernel, 0};
    Message send, receive;
    if (exchange.send_peer != -1) {
      const auto [epoch, offset] = sends->Take(exchange.send_peer);
      round.epoch = epoch;
      send = {exchange.send_peer,     static_cast<int64_t>(exchange.send_bytes),
              exchange.send_chunk,    offset,
              exchange.send_channels, true,
              exchange.send_direct};
      simple_ |= exchange.send_peer != member && exchange.send_ll == 0;
    }
    if (exchange.recv_peer != -1) {
      const auto [epoch, offset] = receives->Take(exchange.recv_peer);
      round.epoch = epoch;
      receive = {exchange.recv_peer,     static_cast<int64_t>(exchange.recv_bytes),
                 exchange.recv_chunk,    offset,
                 exchange.recv_channels, false,
                 exchange.recv_direct};
      simple_ |= exchange.recv_peer != member && exchange.recv_ll == 0;
    }
    Batches& batches = rounds_[round];
    const int channels = builder_->communicator().shape().p2p_channels;
    const int parts = std::max(send.parts, receive.parts);
    batches.CountChannels(parts);
    std::map<int, int> order;  // by channel
    for (int p = 0; p < parts; ++p) {
      const int channel = (exchange.channel_base + p) & (channels - 1);
      order[channel] = batches.Count(member, channel) - 1;
    }
    // A message of a member to itself is a copy to where the message is received.
    if (send.parts > 0 && send.peer == member) {
      send.base = receive.base;
      receive.parts = 0;
    }
    for (const Message& message : {send, receive}) {
      if (message.parts == 0) continue;
      for (const Part& part :
           PartsOf(message.bytes, message.parts, exchange.channel_base, channels)) {
        if (part.begin == part.end) continue;
        AddPart(part, message.chunk, message.base, Connect(part.channel, member, message, round),
                message.is_send,
                batches.At(member, part.channel, order[part.channel], message.is_send));
      }
    }
  }

  std::optional<uint32_t> Connect(int channel, int member, const Message& message,
                                  const Round& round) {
    if (message.peer == member) return std::nullopt;
    builder_->SetDirect(message.direct);
    const uint32_t connection =
        builder_->Connect(HACKNCCL_GRAPH_P2P, channel, message.is_send ? member : message.peer,
                          message.is_send ? message.peer : member);
    if (round.epoch == 0) return connection;
    const auto [later, added] = later_.try_emplace({round.epoch, connection}, 0);
    if (added) later->second = builder_->Duplicate(connection);
    return later->second;
  }

  PlanBuilder* builder_;
  std::map<Round, Batches> rounds_;
  // Connections of later epochs, by epoch and connection of the first epoch.
  std::map<std::pair<int, uint32_t>, uint32_t> later_;
  int threads_ = 0;
  bool simple_ = false;
};

}  // namespace

Status ExpandMessages(const GroupOfCalls& group, const NcclPlan& first, PlanBuilder* builder) {
  Expansion expansion(builder);
  for (int member = 0; member < builder->members(); ++member) {
    const MemberCalls& own = group.members[static_cast<size_t>(member)];
    if (own.calls.empty()) continue;
    if (member == 0) {
      expansion.AddMember(member, own, first);
      continue;
    }
    ASSIGN_OR_RETURN(const NcclPlan plan, builder->communicator().Launch(member, own.calls));
    RETURN_IF_ERROR(CheckKernels(plan, own.calls.size()));
    expansion.AddMember(member, own, plan);
  }
  expansion.Finish();
  return OkStatus();
}

}  // namespace drydock
