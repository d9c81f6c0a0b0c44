#include "exec-engine/testing/replay_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "exec-engine/networks/analytical_network.h"

namespace drydock::testing {
namespace {

CollectiveCosts::Protocol PlainProtocol() {
  CollectiveCosts::Protocol p;
  p.send = p.copy_send = p.reduce_send = p.receive = Bandwidth::FromBytesPerSecond(10e9);
  return p;
}

// Builds the programs of all members on all channels. Connection i of a channel runs from member i
// to member i + 1. A program receives from its first operand and sends to its second.
class RingBuilder {
 public:
  explicit RingBuilder(const PlanShape& shape) : shape_(shape) {
    Work& work = plan_.works[0];
    work.protocol = shape.protocol;
    work.channels = shape.channels;
    work.warps = 16;
    work.slice_bytes = shape.slice_bytes;
    plan_.members.resize(static_cast<size_t>(shape.members));
  }

  // A step of the pattern that AddChannels gives to members.
  RingBuilder& Add(bool receives, bool sends, bool reduce, bool store, int64_t bytes,
                   int count = 1) {
    Step step;
    if (receives) step.receive = {0, 1};
    if (sends) step.send = {1, 1};
    step.count = static_cast<uint32_t>(count);
    step.bytes = bytes;
    step.reduce = reduce;
    step.store = store;
    if (count > 0) pattern_.steps.push_back(step);
    return *this;
  }
  uint32_t TakePattern() {
    pattern_.ring = static_cast<uint32_t>(shape_.members);
    pattern_.operands = 2;
    pattern_.loops = {{1, 0, static_cast<uint32_t>(pattern_.steps.size())}};
    plan_.patterns.push_back(std::exchange(pattern_, {}));
    return static_cast<uint32_t>(plan_.patterns.size()) - 1;
  }

  // The connections of a channel: a ring, or a chain from the first member to the last.
  void Connect(bool closed) {
    first_connection_ = static_cast<uint32_t>(plan_.connections.size());
    const int n = shape_.members;
    for (int m = 0; m < (closed ? n : n - 1); ++m) {
      Connection c;
      c.from = static_cast<uint16_t>(m);
      c.to = static_cast<uint16_t>((m + 1) % n);
      c.link = shape_.link;
      if (c.from / shape_.gpus_per_host != c.to / shape_.gpus_per_host) {
        c.link = LinkKind::kNet;
        c.send_nic = static_cast<int16_t>(c.from % shape_.gpus_per_host);
        c.recv_nic = static_cast<int16_t>(c.to % shape_.gpus_per_host);
      }
      plan_.connections.push_back(c);
    }
  }

  void AddProgram(int member, int channel, uint32_t pattern) {
    const int n = shape_.members;
    const auto connections = static_cast<uint32_t>(plan_.connections.size()) - first_connection_;
    const auto operand = [&](int i) {
      return first_connection_ + static_cast<uint32_t>(i) % connections;
    };
    plan_.members[static_cast<size_t>(member)].push_back(
        {.channel = static_cast<uint16_t>(channel),
         .pattern = pattern,
         .operand_begin = static_cast<uint32_t>(plan_.operands.size())});
    plan_.operands.insert(plan_.operands.end(), {operand(member + n - 1), operand(member)});
  }

  // All members run `pattern` on all channels, as a ring.
  Plan TakeRing(uint32_t pattern, std::string name) {
    for (int channel = 0; channel < shape_.channels; ++channel) {
      Connect(/*closed=*/true);
      for (int m = 0; m < shape_.members; ++m) AddProgram(m, channel, pattern);
    }
    return Take(Algorithm::kRing, std::move(name));
  }

  Plan Take(Algorithm algorithm, std::string name) {
    plan_.works[0].algorithm = algorithm;
    plan_.name = std::move(name);
    return std::move(plan_);
  }

 private:
  const PlanShape shape_;
  Plan plan_;
  Pattern pattern_;
  uint32_t first_connection_ = 0;
};

}  // namespace

Topology SmallCluster(int hosts, int gpus) {
  Topology t;
  t.name = "small";
  GpuSpec gpu;
  gpu.name = "plain";
  gpu.pcie = Bandwidth::FromBytesPerSecond(400e9);
  gpu.memory_bandwidth = Bandwidth::FromBytesPerSecond(2e12);
  gpu.has_collective_costs = true;
  CollectiveCosts& c = gpu.collectives;
  c.simple = c.ll = c.ll128 = c.nvls = c.p2p_simple = c.p2p_ll = PlainProtocol();
  c.copy_engine = c.userbuffers = PlainProtocol();
  c.link_efficiency = 1;
  c.clear_to_send = Bytes(64);
  t.gpus.push_back(gpu);
  HostKind kind;
  kind.name = "box";
  kind.gpus = gpus;
  kind.scale_up = {ScaleUpKind::kNvSwitch, 1, Bandwidth::FromBytesPerSecond(100e9), Time::Us(1),
                   true};
  kind.nics = {gpus, Bandwidth::BitsPerSecond(200000000000), 6, 16, Time::Ns(500), Time()};
  t.host_kinds.push_back(kind);
  t.hosts.assign(static_cast<size_t>(hosts), 0);
  t.fabric.kind = "single-switch";
  t.fabric.switches.push_back({"switch", 0, Time::Ns(300), Bytes(1 << 24)});
  for (int host = 0; host < hosts; ++host) {
    for (int nic = 0; nic < gpus; ++nic) {
      t.fabric.links.push_back({{false, host, nic}, {true, 0, 0}, kind.nics.rate, Time::Ns(50)});
    }
  }
  return t;
}

Plan RingAllReduce(const PlanShape& shape) {
  RingBuilder ring(shape);
  const int n = shape.members;
  const int64_t chunk = shape.bytes / n / shape.channels;
  const uint32_t pattern = ring.Add(false, true, false, false, chunk)
                               .Add(true, true, true, false, chunk, n - 2)
                               .Add(true, true, true, true, chunk)
                               .Add(true, true, false, true, chunk, n - 2)
                               .Add(true, false, false, true, chunk)
                               .TakePattern();
  return ring.TakeRing(pattern, fmt::format("all-reduce {} over {}", shape.bytes, n));
}

Plan RingAllGather(const PlanShape& shape) {
  RingBuilder ring(shape);
  const int n = shape.members;
  const int64_t chunk = shape.bytes / n / shape.channels;
  const uint32_t pattern = ring.Add(false, true, false, true, chunk)
                               .Add(true, true, false, true, chunk, n - 2)
                               .Add(true, false, false, true, chunk)
                               .TakePattern();
  return ring.TakeRing(pattern, fmt::format("all-gather {} over {}", shape.bytes, n));
}

Plan SendReceive(const PlanShape& shape) {
  RingBuilder ring(shape);
  const int64_t part = shape.bytes / shape.channels;
  const uint32_t send = ring.Add(false, true, false, false, part).TakePattern();
  const uint32_t receive = ring.Add(true, false, false, true, part).TakePattern();
  for (int channel = 0; channel < shape.channels; ++channel) {
    ring.Connect(/*closed=*/false);
    ring.AddProgram(0, channel, send);
    ring.AddProgram(1, channel, receive);
  }
  return ring.Take(Algorithm::kSendRecv, fmt::format("send {}", shape.bytes));
}

WorkloadBuilder::WorkloadBuilder(Topology topology) {
  workload.topology = std::move(topology);
  const int ranks = workload.topology.gpu_count();
  for (int rank = 0; rank < ranks; ++rank) workload.class_of_rank.push_back(rank);
  workload.class_count = ranks;
  workload.programs.resize(static_cast<size_t>(ranks));
  for (Program& program : workload.programs) program.dependency_begin.push_back(0);
  for (const GpuSpec& gpu : workload.topology.gpus) times.gpus.push_back({gpu.name, {}});
}

int WorkloadBuilder::Stream(const std::string& name) {
  workload.streams.push_back(name);
  return static_cast<int>(workload.streams.size()) - 1;
}

int WorkloadBuilder::Role(const std::string& name, Dimension dimension,
                          std::vector<std::vector<int>> groups) {
  workload.roles.push_back({name, dimension});
  std::vector<int>& of_rank =
      workload.group_of_rank.emplace_back(workload.class_of_rank.size(), -1);
  for (std::vector<int>& ranks : groups) {
    for (const int rank : ranks) {
      of_rank[static_cast<size_t>(rank)] = static_cast<int>(workload.groups.size());
    }
    workload.groups.push_back({std::move(ranks)});
  }
  return static_cast<int>(workload.roles.size()) - 1;
}

uint32_t WorkloadBuilder::Add(int rank, Op op, std::vector<uint32_t> dependencies) {
  Program& program = workload.programs[static_cast<size_t>(rank)];
  program.ops.push_back(op);
  program.dependency.insert(program.dependency.end(), dependencies.begin(), dependencies.end());
  program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
  return static_cast<uint32_t>(program.ops.size()) - 1;
}

uint32_t WorkloadBuilder::Compute(int rank, int stream, Time duration,
                                  std::vector<uint32_t> dependencies) {
  Op op;
  op.stream = static_cast<uint8_t>(stream);
  op.work = static_cast<uint32_t>(workload.blocks.size());
  workload.blocks.push_back({"block", {static_cast<uint32_t>(workload.submodules.size())}});
  workload.submodules.push_back({"part"});
  for (GpuKernelTimes& gpu : times.gpus) gpu.submodules.push_back({duration, {}});
  return Add(rank, op, std::move(dependencies));
}

uint32_t WorkloadBuilder::Call(CollectiveType type, int64_t bytes, int sender, int group) {
  CommCall call;
  call.collective = type;
  call.type = DataType::kInt8;
  call.count = bytes;
  call.root = sender;
  call.peer = type == CollectiveType::kSendRecv ? 1 - sender : 0;
  call.group_size = static_cast<int>(workload.groups[static_cast<size_t>(group)].ranks.size());
  const auto it = std::find(workload.calls.begin(), workload.calls.end(), call);
  const auto index = static_cast<uint32_t>(it - workload.calls.begin());
  if (it == workload.calls.end()) workload.calls.push_back(call);
  const Workload::Use use{index, static_cast<uint32_t>(group)};
  const auto at = std::lower_bound(workload.uses.begin(), workload.uses.end(), use);
  if (at == workload.uses.end() || *at != use) workload.uses.insert(at, use);
  return index;
}

uint32_t WorkloadBuilder::Collective(int rank, int stream, int role, CollectiveType type,
                                     int64_t bytes, std::vector<uint32_t> dependencies) {
  Op op;
  op.kind = OpKind::kCollective;
  op.stream = static_cast<uint8_t>(stream);
  op.role = static_cast<uint8_t>(role);
  op.work = Call(type, bytes, 0,
                 workload.group_of_rank[static_cast<size_t>(role)][static_cast<size_t>(rank)]);
  return Add(rank, op, std::move(dependencies));
}

uint32_t WorkloadBuilder::Transfer(int rank, int stream, int role, bool send, int sender,
                                   int64_t bytes, int32_t tag, std::vector<uint32_t> dependencies) {
  Op op;
  op.kind = send ? OpKind::kSend : OpKind::kRecv;
  op.stream = static_cast<uint8_t>(stream);
  op.role = static_cast<uint8_t>(role);
  op.tag = tag;
  op.work = Call(CollectiveType::kSendRecv, bytes, sender,
                 workload.group_of_rank[static_cast<size_t>(role)][static_cast<size_t>(rank)]);
  return Add(rank, op, std::move(dependencies));
}

uint32_t WorkloadBuilder::Memory(int rank, int stream, OpKind kind, MemoryTier tier, int64_t bytes,
                                 std::vector<uint32_t> dependencies) {
  Op op;
  op.kind = kind;
  op.stream = static_cast<uint8_t>(stream);
  op.work = static_cast<uint32_t>(workload.transfers.size());
  workload.transfers.push_back({"data", tier, Bytes(bytes)});
  return Add(rank, op, std::move(dependencies));
}

void WorkloadBuilder::PlanAll(int channels) {
  if (!workload.transfers.empty()) {
    workload.host_memory.assign(workload.topology.host_kinds.size(), host_memory);
  }
  const Placement placement(workload.topology);
  for (const Workload::Use& use : workload.uses) {
    const CommCall& call = workload.calls[use.call];
    const std::vector<int>& ranks = workload.groups[use.group].ranks;
    PlanShape shape;
    shape.members = static_cast<int>(ranks.size());
    shape.channels = channels;
    shape.bytes = call.count;
    shape.slice_bytes = 64 << 10;
    const bool one_host = placement.of(ranks.front()).host == placement.of(ranks.back()).host;
    shape.gpus_per_host = one_host ? shape.members : 1;
    Plan made = call.collective == CollectiveType::kSendRecv    ? SendReceive(shape)
                : call.collective == CollectiveType::kAllReduce ? RingAllReduce(shape)
                                                                : RingAllGather(shape);
    for (Connection& c : made.connections) {
      if (call.collective == CollectiveType::kSendRecv && call.root == 1) std::swap(c.from, c.to);
      if (c.link != LinkKind::kNet) continue;
      c.send_nic = static_cast<int16_t>(placement.of(ranks[c.from]).gpu);
      c.recv_nic = static_cast<int16_t>(placement.of(ranks[c.to]).gpu);
    }
    if (call.collective == CollectiveType::kSendRecv && call.root == 1) {
      std::swap(made.members[0], made.members[1]);
    }
    plan.assignments.push_back({use.call, use.group, static_cast<uint32_t>(plan.plans.size())});
    plan.plans.push_back(std::move(made));
  }
}

void WorkloadBuilder::SetPlan(int64_t bytes, Plan made) {
  for (const FlowPlan::Assignment& a : plan.assignments) {
    if (workload.calls[a.call].count == bytes) plan.plans[a.plan] = made;
  }
}

int64_t Counter(const Timeline& timeline, const std::string& name) {
  for (const auto& [key, value] : timeline.counters) {
    if (key == name) return value;
  }
  return -1;
}

NetworkModel Analytical() {
  return {.name = "analytical",
          .make = MakeAnalyticalNetwork,
          .make_folded = MakeFoldedAnalyticalNetwork,
          .folds_exactly = true};
}

Result<Timeline> ReplayAll(const WorkloadBuilder& builder, bool shortcut) {
  ReplayOptions options;
  options.shortcut = shortcut;
  return Replay(builder.workload, builder.plan, builder.times, Analytical(), options);
}

}  // namespace drydock::testing
