#include "core/model/calls/call_workload.h"

#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr int kIdle = 0, kCalling = 1;  // the two classes of ranks

// Returns a program that makes the calls in order, `times` times.
Program ProgramOfCalls(size_t calls, size_t times = 1) {
  Program program;
  program.dependency_begin.assign(calls * times + 1, 0);
  for (size_t i = 0; i < calls * times; ++i) {
    Op op;
    op.kind = OpKind::kCollective;
    op.phase = Phase::kOther;
    op.work = static_cast<uint32_t>(i % calls);
    program.ops.push_back(op);
  }
  return program;
}

}  // namespace

Workload WorkloadOfCalls(const Topology& topology, std::vector<Group> groups,
                         std::vector<CommCall> calls) {
  Workload w;
  w.topology = topology;
  w.streams = {"nccl"};
  w.roles = {{"all", Dimension::kWorld}};
  const auto ranks = static_cast<size_t>(topology.gpu_count());
  w.class_of_rank.assign(ranks, kIdle);
  w.group_of_rank.assign(1, std::vector<int>(ranks, -1));
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const int rank : groups[g].ranks) {
      CHECK(w.class_of_rank[static_cast<size_t>(rank)] == kIdle);
      w.class_of_rank[static_cast<size_t>(rank)] = kCalling;
      w.group_of_rank[0][static_cast<size_t>(rank)] = static_cast<int>(g);
    }
  }
  for (uint32_t call = 0; call < calls.size(); ++call) {
    for (uint32_t group = 0; group < groups.size(); ++group) {
      CHECK(groups[group].ranks.size() == static_cast<size_t>(calls[call].group_size));
      w.uses.push_back({call, group});
    }
  }
  w.programs = {ProgramOfCalls(0), ProgramOfCalls(calls.size())};
  w.class_count = 2;
  w.groups = std::move(groups);
  w.calls = std::move(calls);
  return w;
}

CallAlone TakeCall(const Workload& workload, const FlowPlan& plan, uint32_t call) {
  CallAlone alone;
  alone.workload = WorkloadOfCalls(workload.topology, workload.groups, {workload.calls[call]});
  std::vector<uint32_t> taken;  // indices into plan.plans, by index into the plans of `alone`
  for (const FlowPlan::Assignment& use : plan.assignments) {
    if (use.call != call) continue;
    uint32_t index = 0;
    while (index < taken.size() && taken[index] != use.plan) ++index;
    if (index == taken.size()) {
      taken.push_back(use.plan);
      alone.plan.plans.push_back(plan.plans[use.plan]);
    }
    alone.plan.assignments.push_back({0, use.group, index});
  }
  return alone;
}

void Repeat(int times, CallAlone* alone) {
  CHECK(times > 0);
  Workload& w = alone->workload;
  w.programs[kCalling] = ProgramOfCalls(w.calls.size(), static_cast<size_t>(times));
}

KernelTimes NoKernelTimes(const Topology& topology) {
  KernelTimes times;
  for (const GpuSpec& gpu : topology.gpus) times.gpus.push_back({gpu.name, {}});
  return times;
}

}  // namespace drydock
