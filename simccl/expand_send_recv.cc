// Messages between pairs. NCCL cuts a message into parts, one a channel, and a part into chunks;
// what several messages of one group put on a channel runs side by side, up to eight at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "simccl/expand.h"
#include "simccl/pattern_writer.h"

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

// What a member does on a channel for messages of one batch slot: one after another.
struct Lane {
  PatternWriter writer;
  std::vector<uint32_t> operands;
};

// A part of the message of member `peer`, over `connection` (none: a copy within the member).
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

// The programs of members on channels. What a batch runs side by side are programs of their own;
// the ninth message on a channel follows the first.
class Batches {
 public:
  // The lane of message number `order` of the member's on this channel.
  Lane* At(int member, int channel, int order, bool is_send) {
    const std::tuple key(member, channel, order % kWorksPerBatch, is_send);
    const auto [found, added] = lane_of_.emplace(key, lanes_.size());
    if (added) lanes_.push_back({member, channel, {}});
    return &lanes_[found->second].lane;
  }
  // How many messages the member has put on the channel, this one included.
  int Count(int member, int channel) { return ++counts_[{member, channel}]; }
  int largest() const {
    int most = 1;
    for (const auto& [key, count] : counts_) most = std::max(most, count);
    return most;
  }
  void AddPrograms(PlanBuilder* builder) {
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
};

// What one member's kernel does in one round.
void ExpandExchange(const hacknccl_exchange& exchange, int member, const MemberMessages& own,
                    Batches* batches, PlanBuilder* builder) {
  const int channels = builder->communicator().shape().p2p_channels;
  const int parts = std::max(exchange.send_channels, exchange.recv_channels);
  std::map<int, int> order;  // by channel
  for (int p = 0; p < parts; ++p) {
    const int channel = (exchange.channel_base + p) & (channels - 1);
    order[channel] = batches->Count(member, channel) - 1;
  }
  const auto add = [&](int peer, int64_t bytes, int message_parts, int64_t chunk, bool is_send) {
    if (peer == member && !is_send) return;  // the send is the copy
    const auto at = static_cast<size_t>(peer);
    // A copy within the member is written where it is received.
    const int64_t base = is_send && peer != member ? own.send_offset[at] : own.receive_offset[at];
    for (const Part& part : PartsOf(bytes, message_parts, exchange.channel_base, channels)) {
      if (part.begin == part.end) continue;
      std::optional<uint32_t> connection;
      if (peer != member) {
        connection = builder->Connect(HACKNCCL_GRAPH_P2P, part.channel, is_send ? member : peer,
                                      is_send ? peer : member);
      }
      AddPart(part, chunk, base, connection, is_send,
              batches->At(member, part.channel, order[part.channel], is_send));
    }
  };
  if (exchange.send_peer != -1) {
    add(exchange.send_peer, static_cast<int64_t>(exchange.send_bytes), exchange.send_channels,
        exchange.send_chunk, true);
  }
  if (exchange.recv_peer != -1) {
    add(exchange.recv_peer, static_cast<int64_t>(exchange.recv_bytes), exchange.recv_channels,
        exchange.recv_chunk, false);
  }
}

// A work has one protocol: Simple as soon as any message between members has it.
void Describe(const NcclPlan& nccl, int member, const Batches& batches, Work* work) {
  const bool simple = std::any_of(
      nccl.exchanges.begin(), nccl.exchanges.end(), [member](const hacknccl_exchange& exchange) {
        const auto other = [member](int peer) { return peer != -1 && peer != member; };
        return (other(exchange.send_peer) && !exchange.send_ll) ||
               (other(exchange.recv_peer) && !exchange.recv_ll);
      });
  if (simple) work->protocol = Protocol::kSimple;
  work->warps = nccl.threads / kWarpSize / std::min(batches.largest(), kWorksPerBatch);
  for (const hacknccl_exchange& exchange : nccl.exchanges) {
    work->channels = std::max({work->channels, exchange.send_channels, exchange.recv_channels});
  }
}

}  // namespace

Status ExpandMessages(const Messages& messages, PlanBuilder* builder) {
  Batches batches;
  builder->work().algorithm = Algorithm::kSendRecv;
  builder->work().protocol = Protocol::kLl;
  for (int member = 0; member < builder->members(); ++member) {
    const MemberMessages& own = messages[static_cast<size_t>(member)];
    if (own.calls.empty()) continue;
    ASSIGN_OR_RETURN(const NcclPlan plan, builder->communicator().Launch(member, own.calls));
    if (plan.kind != HACKNCCL_PLAN_KERNEL && plan.kind != HACKNCCL_PLAN_LOCAL) {
      return Error(
          "NCCL chose copy engines or remote memory access for these messages, which is not "
          "expanded into flows yet");
    }
    for (const hacknccl_exchange& exchange : plan.exchanges) {
      ExpandExchange(exchange, member, own, &batches, builder);
    }
    Describe(plan, member, batches, &builder->work());
  }
  batches.AddPrograms(builder);
  return OkStatus();
}

}  // namespace drydock
