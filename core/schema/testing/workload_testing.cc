#include "core/schema/testing/workload_testing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"

namespace drydock::testing {

std::string ToyGpuText() {
  return R"(gpu:
  name: toy
  architecture: hopper
  compute_capability: 90
  sms: 4
  dense: {fp32: 1 TFLOPS, bf16: 8 TFLOPS}
  memory: {size: 1 GB, bandwidth: 100 GB/s}
  l2: 4 MiB
  nvlink: 50 GB/s
  pcie: 16 GB/s
  source: made up
collectives: none
)";
}

std::string ToyClusterText() {
  return R"(cluster: {name: toys, host: box, hosts: 2}
hosts:
  box:
    gpu: toy
    gpus: 2
    scale_up: {kind: nvswitch, switches: 1, bandwidth: 50 GB/s, latency: 600 ns, multicast: true}
    nics: {count: 2, rate: 100 Gbps, pcie: gen4 x8, latency: 500 ns}
    nccl_topology: box.xml
fabric:
  kind: rail-optimised
  leaf: {ports: 8, rate: 100 Gbps, cable: 10 m, latency: 300 ns, buffer: 1 MB}
  spine: {ports: 8, rate: 100 Gbps, cable: 20 m, latency: 300 ns, buffer: 1 MB}
transport: {kind: infiniband, mtu: 2048 B, header: 34 B, ack: 34 B, packets_per_ack: 8}
nccl: {settings: {NCCL_CROSS_NIC: 2, NCCL_ALGO: Ring}}
)";
}

std::vector<std::pair<std::string, std::string>> ToyFiles() {
  return {{"gpus/toy.yaml", ToyGpuText()}, {"box.xml", "<system version=\"1\"/>\n"}};
}

ClusterInput ToyCluster() {
  Result<ClusterInput> cluster = ParseCluster(ToyClusterText(), "toys.topo", ToyFiles());
  CHECK(cluster.ok());
  return *std::move(cluster);
}

Workload ToyWorkload() {
  Workload w;
  w.topology = ToyCluster().topology;
  w.streams = {"compute", "tp", "dp"};
  w.roles = {{"tp", Dimension::kTensor}, {"dp", Dimension::kData}, {"pp", Dimension::kPipeline}};
  w.groups = {{{0, 1}}, {{2, 3}}, {{0, 2}}, {{3, 1}}};
  w.group_of_rank = {{0, 0, 1, 1}, {2, 3, 2, 3}, {2, -1, 2, -1}};
  w.class_of_rank = {0, 1, 0, 1};
  w.class_count = 2;
  Submodule linear;
  linear.name = "mlp.up";
  linear.pass = Pass::kBackwardWeight;
  linear.work = submodule::Linear{.rows = 8,
                                  .n = 4,
                                  .k = 2,
                                  .bias = true,
                                  .accumulate_fp32 = true,
                                  .accumulate_half = true,
                                  .fp8_gradient = true};
  linear.flops = 128, linear.bytes = Bytes(100);
  Submodule attention;
  attention.name = "attention.core";
  attention.type = DataType::kFp16;
  attention.work = submodule::Attention{.batch = 1,
                                        .sequence = 8,
                                        .heads = 4,
                                        .kv_heads = 2,
                                        .head_dim = 16,
                                        .kv_sequence = 12,
                                        .value_dim = 8,
                                        .causal = true,
                                        .fused = true,
                                        .dropout = true};
  attention.flops = 0.5, attention.bytes = Bytes(7);
  w.submodules = {linear, attention};
  w.blocks = {{"attention.forward", {1, 0}}, {"mlp.backward", {0}}};
  w.calls = {{CollectiveType::kAllReduce, DataType::kBf16, ReduceOp::kSum, 64, 0, 0, 2},
             {CollectiveType::kAllGather, DataType::kFp32, ReduceOp::kSum, 32, 0, 0, 2},
             {CollectiveType::kSendRecv, DataType::kBf16, ReduceOp::kSum, 16, 0, 1, 2},
             {CollectiveType::kReduce, DataType::kFp32, ReduceOp::kAverage, 1, 1, 0, 2},
             {CollectiveType::kAllToAllV,
              DataType::kFp64,
              ReduceOp::kSum,
              9,
              0,
              0,
              2,
              false,
              BufferKind::kPlain,
              {1, 7, 5, 2}}};
  w.calls[1].in_place = true;
  w.calls[1].buffers = BufferKind::kSymmetric;
  w.calls.push_back(MakeGrouped({w.calls[0], w.calls[4], w.calls[2]}));
  w.transfers = {{"optimizer.adam", MemoryTier::kHost, Bytes(4096)},
                 {"pages", MemoryTier::kRemote, Bytes(77)}};
  w.host_memory = {{Bandwidth::BitsPerSecond(80'000'000'000),
                    0.5,
                    0.25,
                    Time::Ns(1500),
                    {RemoteSharing::kPool, Bandwidth::BitsPerSecond(8'000'000'000), Time::Us(3)}}};
  w.uses = {{0, 0}, {0, 1}, {1, 2}, {1, 3}, {2, 2}};
  Program first;
  first.ops = {{OpKind::kCompute, Phase::kForward, 0, 0, 0, 0, 3, 1, 0},
               {OpKind::kCollective, Phase::kForward, 1, 0, 0, 0, 3, 1, 0},
               {OpKind::kCompute, Phase::kBackward, 0, 0, 1, 0, -1, -1, 2},
               {OpKind::kSend, Phase::kBackward, 2, 2, 2, 7, -1, 1, 0},
               {OpKind::kRecv, Phase::kBackward, 2, 2, 2, -8, -1, 1, 0}};
  first.dependency_begin = {0, 0, 1, 1, 3, 4};
  first.dependency = {0, 1, 2, 2};
  Program second;
  second.ops = {{OpKind::kCollective, Phase::kGradientSync, 2, 1, 1, 0, -1, -1, 0}};
  second.ops[0].host_waits = HostWait::kDeviceSync;
  second.ops[0].graph = GraphPart::kRest;
  second.ops.push_back({OpKind::kLoad, Phase::kForward, 1, 0, 0, 0, -1, 0, 0});
  second.ops.push_back({OpKind::kStore, Phase::kOptimizer, 2, 0, 1, 0, -1, -1, 0});
  second.ops.push_back({OpKind::kHostWork, Phase::kOptimizer, 2, 0, 0, 0, -1, -1, 0});
  second.dependency_begin = {0, 0, 1, 1, 2};
  second.dependency = {0, 2};
  w.programs = {first, second};
  w.totals = {4096, 1.5e12, 2.5e12, 1000000, "toy-gpt", "TP2 DP2", DataType::kFp16};
  w.launch = {"toy",       Time::Us(1),   Time::Us(2),      Time::Us(3), Time::Us(4),
              Time::Us(5), Time::Ns(600), int64_t{1} << 10, Time::Us(6)};
  w.memory = {{{"weights", Bytes(5000)}, {"activations", Bytes(0)}},
              {{"weights", Bytes(4000)}, {"activations", Bytes(700)}}};
  w.pytorch = {{Bytes(4500), Bytes(5000)}, {Bytes(4600), Bytes(4600)}};
  w.assumptions = {{"host costs", "toy", "a file"}, {"data", "never late", ""}};
  return w;
}

FlowPlan ToyFlowPlan(const Workload& workload) {
  Plan ring;
  ring.name = "all-reduce bf16 128 B over 2";
  ring.works = {{Algorithm::kRing, Protocol::kLl128, 1, 16, 64, 8, 0, 2, 16}};
  ring.connections = {{0, 1, LinkKind::kPeerWrite, -1, -1, -1, true, true},
                      {1, 0, LinkKind::kNet, 1, 0, 0, false, true},
                      {0, 0, LinkKind::kToSwitch, 1, 1, -1, true, false, 0},
                      {0, 0, LinkKind::kFromSwitch, 1, 1, -1, true, false, 0}};
  const Slots first = {0, 1}, second = {1, 1};
  Pattern zero, one;
  zero.operands = one.operands = 2;
  zero.loops = {{2, 128, 2}, {1, 0, 3}};
  zero.steps = {
      {.send = first, .bytes = 64},
      {.receive = second, .send = first, .bytes = 64, .offset = 64, .reduce = true, .store = true},
      {.receive = second, .bytes = 32, .offset = 256, .store = true}};
  one.ring = 2;
  one.loops = {{1, 0, 2}};
  one.steps = {
      {.receive = first,
       .send = second,
       .first = 1,
       .count = 2,
       .whole_chunks = 1,
       .bytes = 64,
       .last_bytes = 32,
       .pitch = 64,
       .reduce = true},
      {.receive = first, .send = second, .bytes = 64, .offset = 64, .store = true, .joined = true}};
  ring.patterns = {zero, one};
  ring.orders = {{1, 0}};
  ring.operands = {0, 1, 0, 1};
  ring.members = {{{.base = 128}},
                  {{.channel = 3, .pattern = 1, .operand_begin = 2, .position = 1, .order = 0}}};
  Plan message = ring;
  message.name = "send-recv bf16 32 B";
  message.works[0].algorithm = Algorithm::kSendRecv;
  message.works.push_back({Algorithm::kTree, Protocol::kSimple, 2, 8, 0, 4, 1});
  message.members[1][0].work = 1;
  FlowPlan plan;
  plan.plans = {ring, message};
  for (size_t i = 0; i < workload.uses.size(); ++i) {
    const Workload::Use& use = workload.uses[i];
    plan.assignments.push_back({use.call, use.group, use.call == 2 ? 1u : 0u});
  }
  return plan;
}

KernelTimes ToyKernelTimes(const Workload& workload) {
  KernelTimes times;
  times.source_count[0] = 1, times.source_count[1] = 2;
  for (const GpuSpec& gpu : workload.topology.gpus) {
    GpuKernelTimes& of_gpu = times.gpus.emplace_back();
    of_gpu.gpu = gpu.name;
    of_gpu.submodules = {
        {Time::Us(3),
         {{"gemm", "8x4x2 bf16", Time::Us(2), KernelBound::kTensorCores, TimeSource::kProfile,
           "row 7"},
          {"bias", "8x4", Time::Us(1), KernelBound::kMemory, TimeSource::kScaled, "by bandwidth",
           1.5, 0.1, true}}},
        {Time::Ps(1), {{"flash", "8", Time::Ps(1), KernelBound::kLaunch, TimeSource::kModel, ""}}}};
  }
  return times;
}

Timeline ToyTimeline(const Workload& workload) {
  Timeline timeline;
  timeline.network = "analytical";
  timeline.iteration = Time::Us(100);
  timeline.stopped = Time::Us(99);
  timeline.ops_ended = 5;
  timeline.iterations = {Time::Us(1), Time::Us(100)};
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const auto c = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
    RankTimeline& of_rank = timeline.ranks.emplace_back();
    for (size_t op = 0; op < workload.programs[c].ops.size(); ++op) {
      // Streams overlap, so starts are not in order of ops.
      const Time start = Time::Us(static_cast<int64_t>(op * 7 % 5) * 10 + rank);
      of_rank.start.push_back(start);
      of_rank.ready.push_back(start + Time::Ns(static_cast<int64_t>(op)));
      of_rank.end.push_back(start + Time::Us(1));
    }
    TimeAccount account;
    account.compute = Time::Us(40), account.bubble = Time::Us(1), account.idle = Time::Us(2);
    account.host = Time::Us(3), account.memory = Time::Us(4);
    account.straggler = Time::Us(5);
    for (int i = 0; i < kDimensionCount; ++i) account.exposed[i] = Time::Us(i);
    account.host_time.of(HostCause::kLaunches) = Time::Us(1);
    account.host_time.of(HostCause::kData) = Time::Us(2);
    timeline.accounts.push_back(account);
  }
  timeline.counters = {{"messages", 12}, {"packets", int64_t{1} << 40}};
  timeline.links = {{"host 0/nic1", "leaf0", Bandwidth::BitsPerSecond(400'000'000'000),
                     Bytes(123'456'789), Bytes(4096), 3, 2, 5, Time::Us(7), Time::Us(3)}};
  timeline.slowdowns = {{Bytes(4096), 12, 1.0, 1.5, 2.25, 3.125}};
  return timeline;
}

bool WriteToyRun(const std::string& run) {
  const Workload workload = ToyWorkload();
  if (!WriteWorkload(run, workload, ToyCluster(), {"workload-gen", {}, {"--set a=b"}}).ok()) {
    return false;
  }
  const Result<WorkloadFile> file = ReadWorkload(run, WorkloadParts::kTables);
  if (!file.ok()) return false;
  std::vector<Provenance::Input> inputs = {{kManifestName, file->sha256}};
  std::string flows, times;
  if (!WriteFlowPlan(run, ToyFlowPlan(workload), {"simccl", inputs, {}}).ok() ||
      !WriteKernelTimes(run, ToyKernelTimes(workload), {"compute-sim", inputs, {}}).ok() ||
      !ReadFlowPlan(run, *file, &flows).ok() || !ReadKernelTimes(run, *file, &times).ok()) {
    return false;
  }
  inputs.push_back({kFlowPlanName, flows});
  inputs.push_back({kKernelTimesName, times});
  const WhatIf what_if = {
      "analytical", 10, Time::Us(30), {{"compute", "all kernels", Time::Us(28)}}};
  return WriteTimeline(run, ToyTimeline(workload), {"exec-engine", inputs, {"analytical"}}).ok() &&
         WriteWhatIf(run, what_if, {"exec-engine what-if", inputs, {}}).ok();
}

namespace {

std::string DumpCall(const CommCall& c) {
  std::string out =
      fmt::format("call {} {} {} {} {} {} {} {} {} {}\n", int(c.collective), int(c.type), int(c.op),
                  c.count, c.root, c.peer, c.group_size, c.in_place, int(c.buffers), c.pair_counts);
  for (const CommCall& part : c.parts) out += "  part: " + DumpCall(part);
  return out;
}

}  // namespace

std::string Dump(const Workload& w) {
  std::string out = fmt::format("{} {} {}\n", w.streams, w.class_of_rank, w.class_count);
  for (size_t i = 0; i < w.roles.size(); ++i) {
    out += fmt::format("role {} {} {}\n", w.roles[i].name, int(w.roles[i].dimension),
                       w.group_of_rank[i]);
  }
  for (const Group& group : w.groups) out += fmt::format("group {}\n", group.ranks);
  for (const Submodule& s : w.submodules) out += fmt::format("submodule {}\n", FactsOf(s));
  for (const ComputeBlock& b : w.blocks) out += fmt::format("block {} {}\n", b.name, b.submodules);
  for (const CommCall& c : w.calls) out += DumpCall(c);
  for (const MemoryTransfer& t : w.transfers) {
    out += fmt::format("transfer {} {} {} {}\n", t.name, int(t.tier), t.bytes.count(), t.time.ps());
  }
  for (const HostMemory& m : w.host_memory) {
    out += fmt::format("host memory {} {} {} {} {} {} {}\n", m.bandwidth.bits_per_second(),
                       m.copy_efficiency, m.optimizer_efficiency, m.latency.ps(),
                       int(m.remote.sharing), m.remote.bandwidth.bits_per_second(),
                       m.remote.latency.ps());
  }
  for (const Program& p : w.programs) {
    for (const Op& o : p.ops) {
      out += fmt::format("op {} {} {} {} {} {} {} {} {} {} {}\n", int(o.kind), int(o.phase),
                         o.stream, o.role, o.work, o.tag, o.layer, o.microbatch, o.chunk,
                         int(o.host_waits), int(o.graph));
    }
    out += fmt::format("dependencies {} {}\n", p.dependency_begin, p.dependency);
  }
  for (const Workload::Use& use : w.uses) out += fmt::format("use {} {}\n", use.call, use.group);
  const HostLaunch& h = w.launch;
  out += fmt::format("launch {} {} {} {} {} {} {} {} {} {}\n", h.name, h.kernel.ps(),
                     h.backward_kernel.ps(), h.collective.ps(), h.message.ps(), h.graph.ps(),
                     h.loop.ps(), h.wait.ps(), h.latency.ps(), h.queue);
  for (const std::vector<MemoryPart>& parts : w.memory) {
    for (const MemoryPart& p : parts) out += fmt::format("memory {} {}\n", p.name, p.bytes.count());
  }
  for (const PyTorchPeaks& peaks : w.pytorch) {
    out += fmt::format("peaks {} {}\n", peaks.allocated.count(), peaks.reserved.count());
  }
  for (const Assumption& each : w.assumptions) {
    out += fmt::format("assumed {}: {} ({})\n", each.name, each.value, each.source);
  }
  const WorkloadTotals& t = w.totals;
  return out + fmt::format("totals {} {} {} {} {} {} {}\n", t.tokens, t.model_flops,
                           t.hardware_flops, t.parameters, t.model_name, t.layout,
                           int(t.precision));
}

std::string Dump(const FlowPlan& plan) {
  std::string out;
  for (const Plan& p : plan.plans) {
    out += fmt::format("plan {} operands {}\n", p.name, p.operands);
    for (const Work& w : p.works) {
      out += fmt::format("work {} {} {} {} {} {} {} {} {} {}\n", int(w.algorithm), int(w.protocol),
                         w.channels, w.warps, w.slice_bytes, w.slots, w.launch, w.slices,
                         w.slice_grain, w.registered);
    }
    for (const Connection& c : p.connections) {
      out += fmt::format("connection {} {} {} {} {} {} {} {} {} {} {}\n", c.from, c.to, int(c.link),
                         c.send_nic, c.recv_nic, c.proxy, c.send_gdr, c.recv_gdr, c.reduction,
                         c.first, c.direct);
    }
    for (const Pattern& pattern : p.patterns) {
      out += fmt::format("pattern {} {}\n", pattern.ring, pattern.operands);
      for (const Loop& l : pattern.loops) {
        out += fmt::format("loop {} {} {}\n", l.repeat, l.stride, l.step_end);
      }
      for (const Step& s : pattern.steps) {
        out += fmt::format("step {}+{} {}+{} {} {} {} {} {} {} {} {} {} {}\n", s.receive.begin,
                           s.receive.count, s.send.begin, s.send.count, s.first, s.count,
                           s.whole_chunks, s.bytes, s.last_bytes, s.offset, s.pitch, s.reduce,
                           s.store, s.joined);
      }
    }
    for (const auto& order : p.orders) out += fmt::format("order {}\n", order);
    for (const auto& member : p.members) {
      out += "member\n";
      for (const ChannelProgram& c : member) {
        out += fmt::format("program {} {} {} {} {} {} {}\n", c.channel, c.work, c.pattern,
                           c.operand_begin, c.position, c.order, c.base);
      }
    }
  }
  for (const auto& a : plan.assignments)
    out += fmt::format("use {} {} {}\n", a.call, a.group, a.plan);
  return out;
}

std::string Dump(const KernelTimes& times) {
  std::string out = fmt::format("{}\n", fmt::join(times.source_count, " "));
  for (const GpuKernelTimes& gpu : times.gpus) {
    out += gpu.gpu + "\n";
    for (const SubmoduleTime& submodule : gpu.submodules) {
      out += fmt::format("total {}\n", submodule.total.ps());
      for (const KernelTime& k : submodule.kernels) {
        out += fmt::format("{} {} {} {} {} {} {}\n", k.name, k.shape, k.time.ps(),
                           ToString(k.bound), int(k.source), k.detail, k.gap);
      }
    }
  }
  return out;
}

std::string Dump(const Timeline& timeline) {
  std::string out = fmt::format("{} {} {} {}\n", timeline.network, timeline.iteration.ps(),
                                timeline.stopped.ps(), timeline.ops_ended);
  for (const Time each : timeline.iterations) out += fmt::format("{}\n", each.ps());
  for (const RankTimeline& rank : timeline.ranks) {
    for (size_t op = 0; op < rank.start.size(); ++op) {
      out += fmt::format("{} {} {}\n", rank.start[op].ps(), rank.ready[op].ps(), rank.end[op].ps());
    }
  }
  for (const TimeAccount& account : timeline.accounts) {
    out += fmt::format("{} {} {} {} {} {}", account.compute.ps(), account.host.ps(),
                       account.memory.ps(), account.straggler.ps(), account.bubble.ps(),
                       account.idle.ps());
    for (const Time exposed : account.exposed) out += fmt::format(" {}", exposed.ps());
    for (const Time host : account.host_time.by_cause) out += fmt::format(" {}", host.ps());
    out += "\n";
  }
  for (const auto& [name, value] : timeline.counters) out += fmt::format("{} {}\n", name, value);
  for (const LinkTotal& link : timeline.links) {
    out += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", link.from, link.to,
                       link.rate.bits_per_second(), link.sent.count(), link.max_queued.count(),
                       link.marked, link.dropped, link.paused.ps(), link.busy.ps(), link.repeated);
  }
  for (const SlowdownRow& row : timeline.slowdowns) {
    out += fmt::format("{} {} {} {} {} {}\n", row.up_to.count(), row.messages, row.median, row.p95,
                       row.p99, row.most);
  }
  return out;
}

}  // namespace drydock::testing
