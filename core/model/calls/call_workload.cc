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

void RepeatLaunched(int times, const ProcessLaunch& launch, CallAlone* alone) {
  CHECK(times > 0 && launch.modeled() && launch.gpus >= 1);
  constexpr int64_t kQueue = 1024;  // launches that CUDA keeps for a stream
  Workload& w = alone->workload;
  w.launch.name = "nccl-tests";
  w.launch.kernel = w.launch.collective = launch.each;
  w.launch.queue = kQueue;
  // To a GPU, the launches on the others of its process are kernels that take no time.
  w.streams = {"nccl", "other GPUs"};
  w.submodules = {Submodule{.name = "launch on another GPU", .work = submodule::Add{.rows = 1}}};
  w.blocks = {ComputeBlock{.name = "launch on another GPU", .submodules = {0}}};
  w.programs = {ProgramOfCalls(0)};
  for (int place = 0; place < launch.gpus; ++place) {
    Program program;
    for (int call = 0; call < times; ++call) {
      for (int gpu = 0; gpu < launch.gpus; ++gpu) {
        Op op;
        op.phase = Phase::kOther;
        if (gpu == place) op.kind = OpKind::kCollective;
        op.stream = gpu == place ? 0 : 1;
        program.ops.push_back(op);
      }
    }
    program.dependency_begin.assign(program.ops.size() + 1, 0);
    w.programs.push_back(std::move(program));
  }
  w.class_count = 1 + launch.gpus;
  const Placement placement(w.topology);
  for (const Group& group : w.groups) {
    std::vector<int> members(static_cast<size_t>(w.topology.host_count()));
    for (const int rank : group.ranks) {
      int& of_host = members[static_cast<size_t>(placement.of(rank).host)];
      w.class_of_rank[static_cast<size_t>(rank)] = kCalling + of_host++ % launch.gpus;
    }
    for (const int count : members) CHECK(count % launch.gpus == 0);
  }
}

KernelTimes NoKernelTimes(const Topology& topology, size_t submodules) {
  KernelTimes times;
  KernelTime none;
  none.name = "none";
  const std::vector<SubmoduleTime> all(submodules, SubmoduleTime{Time(), {none}});
  for (const GpuSpec& gpu : topology.gpus) times.gpus.push_back({gpu.name, all});
  return times;
}

}  // namespace drydock
