#include "simccl/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

// Keys beside the graphs of hacknccl.h.
constexpr int kNvlsToHead = -1;
constexpr int kNvlsFromHead = -2;

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

}  // namespace

PlanBuilder::PlanBuilder(const NcclCommunicator& communicator) : communicator_(communicator) {
  plan_.members.resize(static_cast<size_t>(members()));
  plan_.slots = communicator.shape().slots;
}

void PlanBuilder::Fail(const Error& error) {
  if (!error_.has_value()) error_ = error;
}

// The connection of this key; `connection` becomes it if it is new.
uint32_t PlanBuilder::Add(const std::tuple<int, int, int, int>& key, Connection connection) {
  const auto next = static_cast<uint32_t>(plan_.connections.size());
  const auto [entry, added] = connections_.emplace(key, next);
  if (added) plan_.connections.push_back(connection);
  return entry->second;
}

uint32_t PlanBuilder::Connect(int graph, int channel, int from, int to) {
  const std::tuple key(graph, channel, from, to);
  if (const auto known = connections_.find(key); known != connections_.end()) return known->second;
  Connection connection;
  connection.from = static_cast<uint16_t>(from);
  connection.to = static_cast<uint16_t>(to);
  const auto link = communicator_.Link(graph, channel, from, to);
  if (link.ok()) {
    connection.link = KindOf(link->kind);
    connection.send_nic = static_cast<int16_t>(link->send_nic);
    connection.recv_nic = static_cast<int16_t>(link->recv_nic);
    connection.proxy = static_cast<int16_t>(link->proxy);
    connection.gdr = link->kind != HACKNCCL_LINK_NET || (link->send_gdr && link->recv_gdr);
    if (link->relay != -1) connection.proxy = static_cast<int16_t>(link->relay);
  } else {
    Fail(link.error());
  }
  return Add(key, connection);
}

uint32_t PlanBuilder::ConnectNvls(int channel, int member, int head, Nvls direction) {
  const bool to_head = direction == Nvls::kToHead;
  Connection connection;
  connection.from = static_cast<uint16_t>(to_head ? member : head);
  connection.to = static_cast<uint16_t>(to_head ? head : member);
  connection.link = LinkKind::kNvls;
  return Add({to_head ? kNvlsToHead : kNvlsFromHead, channel, member, head}, connection);
}

PlanBuilder::Program PlanBuilder::AddProgram(int member, int channel) {
  std::vector<ChannelProgram>& programs = plan_.members[static_cast<size_t>(member)];
  programs.emplace_back().channel = static_cast<uint16_t>(channel);
  return Program(&programs, programs.size() - 1);
}

void PlanBuilder::Program::Step(std::span<const uint32_t> receives, std::span<const uint32_t> sends,
                                int64_t bytes, int64_t offset, Local local) {
  JoinedStep(receives, sends, bytes, offset, local, true);
}

namespace {

// Where `ids` stand in `operands`; programs use the same few lists over and over.
uint32_t Place(std::span<const uint32_t> ids, std::vector<uint32_t>* operands) {
  const auto found = std::search(operands->begin(), operands->end(), ids.begin(), ids.end());
  const auto begin = static_cast<uint32_t>(found - operands->begin());
  if (found == operands->end()) operands->insert(operands->end(), ids.begin(), ids.end());
  return begin;
}

}  // namespace

void PlanBuilder::Program::JoinedStep(std::span<const uint32_t> receives,
                                      std::span<const uint32_t> sends, int64_t bytes,
                                      int64_t offset, Local local, bool first) {
  if (bytes <= 0) return;
  ChannelProgram& program = this->program();
  drydock::Step step;
  step.receive_begin = Place(receives, &program.operands);
  step.receive_count = static_cast<uint32_t>(receives.size());
  step.send_begin = Place(sends, &program.operands);
  step.send_count = static_cast<uint32_t>(sends.size());
  step.bytes = bytes;
  step.offset = offset;
  step.reduce = local == Local::kReduce || local == Local::kReduceStore;
  step.store = local == Local::kStore || local == Local::kReduceStore;
  step.joined = !first;
  program.steps.push_back(step);
}

Result<Plan> PlanBuilder::Finish() {
  if (error_.has_value()) return *error_;
  for (std::vector<ChannelProgram>& programs : plan_.members) {
    std::erase_if(programs, [](const ChannelProgram& program) { return program.steps.empty(); });
  }
  return std::move(plan_);
}

}  // namespace drydock
