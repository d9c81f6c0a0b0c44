#include "exec-engine/testing/replica_testing.h"

#include <utility>

namespace drydock::testing {
namespace {

constexpr int kGpus = kReplicaGpus;

// Micro-batches through the stages, and all-reduces of gradients in parallel.
WorkloadBuilder RandomTraining(const Layout& layout, uint32_t seed, Topology topology) {
  std::mt19937 random(seed);
  const auto pick = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
  for (CollectiveCosts::Protocol* p :
       {&topology.gpus[0].collectives.simple, &topology.gpus[0].collectives.p2p_simple}) {
    p->base = Time::Us(5);
    p->step = Time::Ns(700);
    p->proxy = Time::Ns(900);
  }
  WorkloadBuilder b(std::move(topology));
  const int compute = b.Stream("compute"), tensor = b.Stream("tp"), data = b.Stream("dp"),
            send = b.Stream("send"), receive = b.Stream("receive");
  const int tp = b.Role("tp", Dimension::kTensor, layout.TensorGroups());
  const int dp = b.Role("dp", Dimension::kData, layout.DataGroups());
  const int pairs[2] = {b.Role("pp-even", Dimension::kPipeline, layout.Pairs(0)),
                        b.Role("pp-odd", Dimension::kPipeline, layout.Pairs(1))};
  for (int batch = 0; batch < 6; ++batch) {
    const int64_t tp_bytes = (1 + pick(3)) << 18, dp_bytes = (1 + pick(4)) << 19;
    const int64_t pp_bytes = (1 + pick(4)) << 18;
    const Time work[3] = {Time::Us(50 + pick(200)), Time::Us(50 + pick(200)),
                          Time::Us(50 + pick(200))};
    const bool with_dp = pick(3) > 0;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      const int stage = layout.stage_of(rank);
      std::vector<uint32_t> before;
      if (stage > 0) {
        before = {b.Transfer(rank, receive, pairs[(stage - 1) % 2], false, 0, pp_bytes, batch)};
      }
      const uint32_t forward = b.Compute(rank, compute, work[stage], before);
      const uint32_t sum =
          b.Collective(rank, tensor, tp, CollectiveType::kAllReduce, tp_bytes, {forward});
      const uint32_t after = b.Compute(rank, compute, Time::Us(20), {sum});
      if (with_dp) b.Collective(rank, data, dp, CollectiveType::kAllReduce, dp_bytes, {forward});
      if (stage + 1 < layout.stages) {
        b.Transfer(rank, send, pairs[stage % 2], true, 0, pp_bytes, batch, {after});
      }
    }
  }
  return b;
}

// Each stage computes, sums over its tensor group and sends to the next one. When all stages are
// done, they sum their gradients.
WorkloadBuilder TrainingWithSumsApart(const Layout& layout, uint32_t seed, Topology topology) {
  std::mt19937 random(seed);
  WorkloadBuilder b(std::move(topology));
  const int compute = b.Stream("compute");
  const int tp = b.Role("tp", Dimension::kTensor, layout.TensorGroups());
  const int dp = b.Role("dp", Dimension::kData, layout.DataGroups());
  const int pairs[2] = {b.Role("pp-even", Dimension::kPipeline, layout.Pairs(0)),
                        b.Role("pp-odd", Dimension::kPipeline, layout.Pairs(1))};
  const Time work = Time::Us(50 + static_cast<int64_t>(random() % 200));
  constexpr int64_t kBytes = 1 << 19;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const int stage = layout.stage_of(rank);
    if (stage > 0) b.Transfer(rank, compute, pairs[(stage - 1) % 2], false, 0, kBytes, 0);
    b.Compute(rank, compute, work);
    b.Collective(rank, compute, tp, CollectiveType::kAllReduce, kBytes);
    if (stage + 1 < layout.stages) {
      b.Transfer(rank, compute, pairs[stage % 2], true, 0, kBytes, 0);
    }
    b.Compute(rank, compute, Time::Us(5000 * (layout.stages - stage)));
    b.Collective(rank, compute, dp, CollectiveType::kAllReduce, 2 * kBytes);
    b.Compute(rank, compute, work);
  }
  return b;
}

// Two hosts on a leaf, leaves on a spine. The messages of a ring take short and long paths in turn,
// or irregularly if a group begins in the middle of a leaf.
Topology TwoTiers(int hosts, int first_leaf) {
  Topology t = SmallCluster(hosts, kGpus);
  const FabricLink cable = t.fabric.links.front();
  t.fabric = {};
  t.fabric.kind = "leaf-spine";
  t.fabric.switches.push_back({"spine", 1, Time::Us(2), Bytes(1 << 24)});
  for (int host = 0; host < hosts; ++host) {
    const int leaf = 1 + (host + 2 - first_leaf) / 2;
    while (static_cast<int>(t.fabric.switches.size()) <= leaf) {
      const auto number = static_cast<int>(t.fabric.switches.size());
      t.fabric.switches.push_back(
          {"leaf" + std::to_string(number), 0, Time::Ns(300), Bytes(1 << 24)});
      for (int i = 0; i < 2 * kGpus; ++i) {
        t.fabric.links.push_back({{true, number, 0}, {true, 0, 0}, cable.rate, cable.delay});
      }
    }
    for (int nic = 0; nic < kGpus; ++nic) {
      t.fabric.links.push_back({{false, host, nic}, {true, leaf, 0}, cable.rate, cable.delay});
    }
  }
  return t;
}

// Reduces along a chain of all members to the first one, and broadcasts back.
Plan Chain(const std::vector<int>& ranks, int64_t bytes) {
  Plan plan;
  plan.name = "chain";
  plan.works[0] = {Algorithm::kTree, Protocol::kSimple, 1, 16, bytes};
  plan.members.resize(ranks.size());
  const auto n = static_cast<uint16_t>(ranks.size());
  for (uint16_t m = 0; m + 1 < n; ++m) {
    for (const bool up : {true, false}) {
      Connection c;
      c.from = up ? m + 1 : m;
      c.to = up ? m : m + 1;
      const bool inside = ranks[m] / kGpus == ranks[m + 1u] / kGpus;
      c.link = inside ? LinkKind::kPeerWrite : LinkKind::kNet;
      if (!inside) {
        c.send_nic = static_cast<int16_t>(ranks[c.from] % kGpus);
        c.recv_nic = static_cast<int16_t>(ranks[c.to] % kGpus);
      }
      plan.connections.push_back(c);
    }
  }
  for (uint16_t m = 0; m < n; ++m) {
    const bool top = m == 0, bottom = m + 1 == n;
    Pattern pattern;
    pattern.operands = (top ? 0 : 2) + (bottom ? 0 : 2);
    // Operands: to and from the member above, then from and to the member below.
    const uint32_t below = top ? 0 : 2;
    Step up, down;
    up.bytes = down.bytes = bytes;
    if (!bottom) up.receive = {below, 1};
    up.reduce = !bottom && !top;
    if (!top) up.send = {0, 1};
    if (!top) down.receive = {1, 1};
    if (!bottom) down.send = {below + 1, 1};
    pattern.steps = {up, down};
    pattern.loops = {{1, 0, 2}};
    plan.members[m].push_back({.pattern = static_cast<uint32_t>(plan.patterns.size()),
                               .operand_begin = static_cast<uint32_t>(plan.operands.size())});
    plan.patterns.push_back(pattern);
    if (!top) plan.operands.insert(plan.operands.end(), {2u * m - 2, 2u * m - 1});
    if (!bottom) plan.operands.insert(plan.operands.end(), {2u * m, 2u * m + 1});
  }
  return plan;
}

// Makes the last chunk of the ring a little shorter than the others.
void MakeRagged(Plan* plan) {
  const auto n = static_cast<uint32_t>(plan->members.size());
  for (Pattern& pattern : plan->patterns) {
    uint32_t before = 0;  // primitives
    for (Step& step : pattern.steps) {
      step.first = (2 * n - 1 - before % n) % n;
      before += step.count;
      step.whole_chunks = n - 1;
      step.last_bytes = step.bytes * 15 / 16;
    }
  }
  for (uint32_t m = 0; m < n; ++m) {
    for (ChannelProgram& program : plan->members[m]) program.position = static_cast<uint16_t>(m);
  }
}

}  // namespace

std::vector<std::vector<int>> Layout::TensorGroups() const {
  std::vector<std::vector<int>> out;
  for (int first = 0; first < ranks(); first += tensor) {
    for (out.emplace_back(); static_cast<int>(out.back().size()) < tensor;) {
      out.back().push_back(first + static_cast<int>(out.back().size()));
    }
  }
  return out;
}

std::vector<std::vector<int>> Layout::DataGroups() const {
  std::vector<std::vector<int>> out;
  for (int stage = 0; stage < stages; ++stage) {
    for (int t = 0; t < tensor; ++t) {
      out.emplace_back();
      for (int d = 0; d < data; ++d) out.back().push_back((stage * data + d) * tensor + t);
    }
  }
  return out;
}

std::vector<std::vector<int>> Layout::Pairs(int first_stage) const {
  std::vector<std::vector<int>> out;
  for (int rank = 0; rank < ranks(); ++rank) {
    const bool has_next = stage_of(rank) + 1 < stages;
    if (has_next && stage_of(rank) % 2 == first_stage) {
      out.push_back({rank, rank + tensor * data});
    }
  }
  return out;
}

Layout RandomLayout(std::mt19937* random) {
  Layout layout;
  layout.tensor = (*random)() % 2 == 0 ? 2 : 4;
  layout.stages = 1 + static_cast<int>((*random)() % 3);
  layout.data = 4 << (*random)() % 2;
  return layout;
}

void MergeClasses(const Layout& layout, WorkloadBuilder* b) {
  std::vector<Program> programs;
  for (int stage = 0; stage < layout.stages; ++stage) {
    const int first = stage * layout.tensor * layout.data;
    programs.push_back(b->workload.programs[static_cast<size_t>(first)]);
  }
  b->workload.programs = std::move(programs);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    b->workload.class_of_rank[static_cast<size_t>(rank)] = layout.stage_of(rank);
  }
  b->workload.class_count = layout.stages;
}

WorkloadBuilder ReplicasOnOneSwitch(const Layout& layout, uint32_t seed) {
  WorkloadBuilder b = RandomTraining(layout, seed, SmallCluster(layout.hosts(), kGpus));
  MergeClasses(layout, &b);
  b.PlanAll();
  return b;
}

WorkloadBuilder ReplicasInDomains(const Layout& layout, uint32_t seed, int trays, bool apart) {
  Topology topology = SmallCluster(layout.hosts() / trays, trays * kGpus);
  topology.host_kinds[0].trays = trays;
  WorkloadBuilder b = apart ? TrainingWithSumsApart(layout, seed, std::move(topology))
                            : RandomTraining(layout, seed, std::move(topology));
  MergeClasses(layout, &b);
  b.PlanAll();
  return b;
}

WorkloadBuilder ReplicasThatDiffer(const Layout& layout, uint32_t seed, int first_leaf) {
  constexpr int64_t kShort = 24;
  WorkloadBuilder b = RandomTraining(layout, seed, TwoTiers(layout.hosts(), first_leaf));
  std::vector<int> all;
  for (int rank = 0; rank < layout.ranks(); ++rank) all.push_back(rank);
  const int world = b.Role("world", Dimension::kWorld, {all});
  const int stream = b.Stream("world");
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    b.Collective(rank, stream, world, CollectiveType::kAllReduce, kShort);
    b.Compute(rank, stream, Time::Us(30));
    b.Collective(rank, stream, world, CollectiveType::kAllReduce, kShort);
  }
  MergeClasses(layout, &b);
  b.PlanAll();
  for (const FlowPlan::Assignment& a : b.plan.assignments) {
    const int first = b.workload.groups[a.group].ranks.front();
    const bool sums = b.workload.calls[a.call].collective == CollectiveType::kAllReduce;
    if (sums &&
        b.workload.group_of_rank[1][static_cast<size_t>(first)] == static_cast<int>(a.group)) {
      MakeRagged(&b.plan.plans[a.plan]);
    }
  }
  b.SetPlan(kShort, Chain(all, kShort));
  return b;
}

}  // namespace drydock::testing
