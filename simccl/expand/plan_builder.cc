#include "simccl/expand/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/containers/hash.h"

namespace drydock {
namespace {

// Keys in addition to the graphs of hacknccl.h.
constexpr int kToSwitch = 12;
constexpr int kFromSwitch = 13;

LinkKind KindOf(int hacknccl_kind) {
  switch (hacknccl_kind) {
    case HACKNCCL_LINK_P2P_WRITE:
      return LinkKind::kPeerWrite;
    case HACKNCCL_LINK_P2P_READ:
      return LinkKind::kPeerRead;
    case HACKNCCL_LINK_SHM:
      return LinkKind::kShared;
    default:
      CHECK(hacknccl_kind == HACKNCCL_LINK_NET);
      return LinkKind::kNet;
  }
}

// Returns the bit of HACKNCCL_DIRECT_* that applies to such a connection; 0: none.
int DirectBit(LinkKind link) {
  switch (link) {
    case LinkKind::kPeerWrite:
    case LinkKind::kPeerRead:
      return HACKNCCL_DIRECT_PEER;
    case LinkKind::kNvls:
      return HACKNCCL_DIRECT_NVLS;
    case LinkKind::kNet:
      return HACKNCCL_DIRECT_NET;
    default:
      return 0;
  }
}

size_t PatternHash(const Pattern& pattern) {
  uint64_t hash = HashOf(pattern.ring, pattern.operands);
  const auto add = [&hash](auto... values) {
    ((hash = HashCombine(hash, static_cast<uint64_t>(values))), ...);
  };
  for (const Loop& loop : pattern.loops) add(loop.repeat, loop.step_end, loop.stride);
  for (const Step& step : pattern.steps) {
    add(uint64_t{step.receive.begin} << 32 | step.send.begin,
        uint64_t{step.receive.count} << 32 | step.send.count,
        uint64_t{step.first} << 32 | step.count, step.bytes, step.last_bytes, step.offset,
        step.pitch);
  }
  return hash;
}

// The key of a connection of the current work. Each number must fit into 16 bits.
uint64_t ConnectionKey(int graph, int channel, int from, int to) {
  return static_cast<uint64_t>(graph) << 48 | static_cast<uint64_t>(channel) << 32 |
         static_cast<uint64_t>(from) << 16 | static_cast<uint64_t>(to);
}

}  // namespace

PlanBuilder::PlanBuilder(const NcclCommunicator& communicator) : communicator_(communicator) {
  plan_.members.resize(static_cast<size_t>(members()));
  work().slots = communicator.shape().slots;
}

void PlanBuilder::NextWork() {
  plan_.works.emplace_back().slots = communicator_.shape().slots;
  connections_.Clear();
  direct_ = 0;
}

void PlanBuilder::Fail(const Error& error) {
  if (!error_.has_value()) error_ = error;
}

void PlanBuilder::BeginChannel(const hacknccl_collective& work, int channel) {
  connections_.Clear();
  if (channel == work.channel_lo) {
    before_ = {plan_.connections.size(), plan_.operands.size()};
  } else if (channel == work.channel_lo + 1) {
    const auto left = static_cast<size_t>(work.channel_hi - work.channel_lo);
    const auto reserve = [left](size_t before, auto* list) {
      list->reserve(list->size() + (list->size() - before) * left);
    };
    reserve(before_[0], &plan_.connections);
    reserve(before_[1], &plan_.operands);
    if (plan_.works.size() > 1) return;
    for (std::vector<ChannelProgram>& programs : plan_.members) reserve(0, &programs);
  }
}

uint32_t PlanBuilder::Add(Connection connection) {
  plan_.connections.push_back(connection);
  return next_connection() - 1;
}

uint32_t PlanBuilder::Connect(int graph, int channel, int from, int to) {
  const uint32_t next = next_connection();
  const uint32_t index = connections_.FindOrAdd(ConnectionKey(graph, channel, from, to), next);
  if (index != next) return index;
  Connection connection;
  connection.from = static_cast<uint16_t>(from);
  connection.to = static_cast<uint16_t>(to);
  const auto link = communicator_.Link(graph, channel, from, to);
  if (link.ok()) {
    connection.link = KindOf(link->kind);
    connection.send_nic = static_cast<int16_t>(link->send_nic);
    connection.recv_nic = static_cast<int16_t>(link->recv_nic);
    connection.proxy = static_cast<int16_t>(link->proxy);
    if (connection.link == LinkKind::kNet) {
      connection.send_gdr = link->send_gdr != 0;
      connection.recv_gdr = link->recv_gdr != 0;
    }
    if (link->relay != -1) connection.proxy = static_cast<int16_t>(link->relay);
    connection.direct = (direct_ & DirectBit(connection.link)) != 0;
  } else {
    Fail(link.error());
  }
  return Add(connection);
}

uint32_t PlanBuilder::ConnectSelf(int member) {
  Connection connection;
  connection.from = connection.to = static_cast<uint16_t>(member);
  connection.direct = true;  // the data stays where it is until the receiving step moves it
  return Add(connection);
}

uint32_t PlanBuilder::ConnectNvls(int member, int head, Nvls direction) {
  const bool to_head = direction == Nvls::kToHead;
  Connection connection;
  connection.from = static_cast<uint16_t>(to_head ? member : head);
  connection.to = static_cast<uint16_t>(to_head ? head : member);
  connection.link = LinkKind::kNvls;
  connection.direct = (direct_ & DirectBit(connection.link)) != 0;
  return Add(connection);
}

uint32_t PlanBuilder::ConnectSwitch(int channel, int member, const hacknccl_collnet& place,
                                    Switch direction, int64_t first) {
  const bool to = direction == Switch::kTo;
  const uint64_t key = ConnectionKey(to ? kToSwitch : kFromSwitch, channel, member, member);
  const uint32_t added = next_connection();
  const uint32_t index = connections_.FindOrAdd(key, added);
  if (index != added) return index;
  if (place.nic < 0) {
    Fail(
        Error(fmt::format("NCCL reduces in the network at member {} on channel {}, but has not "
                          "joined the member to the network",
                          member, channel)));
  }
  CHECK(reductions_.size() <= INT16_MAX);
  const auto next = static_cast<int16_t>(reductions_.size());
  Connection connection;
  connection.from = connection.to = static_cast<uint16_t>(member);
  connection.link = to ? LinkKind::kToSwitch : LinkKind::kFromSwitch;
  connection.send_nic = connection.recv_nic = static_cast<int16_t>(place.nic);
  connection.send_gdr = connection.recv_gdr = place.gdr != 0;
  connection.first = static_cast<uint32_t>(first);
  connection.reduction =
      reductions_.emplace(std::tuple(plan_.works.size(), channel, place.rail), next).first->second;
  return Add(connection);
}

uint32_t PlanBuilder::AddPattern(Pattern pattern) {
  const size_t hash = PatternHash(pattern);
  const auto [begin, end] = patterns_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (plan_.patterns[it->second] == pattern) return it->second;
  }
  const auto index = static_cast<uint32_t>(plan_.patterns.size());
  patterns_.emplace(hash, index);
  plan_.patterns.push_back(std::move(pattern));
  return index;
}

int16_t PlanBuilder::AddOrder(const std::vector<int>& members) {
  const auto next = static_cast<int16_t>(plan_.orders.size());
  const auto [order, added] =
      orders_.emplace(std::vector<uint16_t>(members.begin(), members.end()), next);
  if (added) plan_.orders.push_back(order->first);
  return order->second;
}

void PlanBuilder::AddProgram(int member, int channel, uint32_t pattern,
                             std::span<const uint32_t> operands, Place place) {
  const Pattern& runs = plan_.patterns[pattern];
  if (runs.steps.empty()) return;
  CHECK(operands.size() >= runs.operands);  // with little data the last operands are unused
  operands = operands.first(runs.operands);
  ChannelProgram program;
  program.channel = static_cast<uint16_t>(channel);
  program.work = static_cast<uint16_t>(plan_.works.size() - 1);
  program.pattern = pattern;
  program.operand_begin = static_cast<uint32_t>(plan_.operands.size());
  program.position = place.position;
  program.order = place.order;
  program.base = base_ + place.base;
  plan_.operands.insert(plan_.operands.end(), operands.begin(), operands.end());
  plan_.members[static_cast<size_t>(member)].push_back(program);
}

Result<Plan> PlanBuilder::Finish(std::string name) {
  if (error_.has_value()) return *error_;
  plan_.name = std::move(name);
  return std::move(plan_);
}

}  // namespace drydock
