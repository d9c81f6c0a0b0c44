#include "exec-engine/index/replay_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "core/base/check.h"
#include "core/containers/hash.h"
#include "core/model/calls/call_numbers.h"
#include "exec-engine/transfer/transfer_engine.h"

namespace drydock {
namespace {

// A CallKey has 32 bits for the number of a call.
constexpr uint64_t kMaxCalls = uint64_t{1} << 32;

ClassIndex IndexProgram(const Program& program, size_t streams) {
  ClassIndex index;
  index.program = &program;
  const size_t ops = program.ops.size();
  index.successor_begin.assign(ops + 1, 0);
  for (const uint32_t dependency : program.dependency) {
    CHECK(dependency < ops);
    ++index.successor_begin[dependency + 1];
  }
  for (size_t op = 0; op < ops; ++op) index.successor_begin[op + 1] += index.successor_begin[op];
  index.successor.resize(program.dependency.size());
  std::vector<uint32_t> fill(index.successor_begin.begin(), index.successor_begin.end() - 1);
  index.next_in_stream.assign(ops, kNoOp);
  index.first_in_stream.assign(streams, kNoOp);
  std::vector<uint32_t> last(streams, kNoOp);
  for (uint32_t op = 0; op < ops; ++op) {
    for (const uint32_t dependency : program.dependencies(op)) {
      index.successor[fill[dependency]++] = op;
    }
    const size_t stream = program.ops[op].stream;
    CHECK(stream < streams);
    (last[stream] == kNoOp ? index.first_in_stream[stream] : index.next_in_stream[last[stream]]) =
        op;
    last[stream] = op;
  }
  index.sequence.assign(ops, 0);
  return index;
}

bool UsesTensorCores(KernelBound bound) {
  return bound == KernelBound::kTensorCores || bound == KernelBound::kCompute;
}

// Kernels with other bounds count toward neither share.
BlockTime TimeOf(const ComputeBlock& block, const GpuKernelTimes& gpu) {
  BlockTime out;
  Time tensor, memory;
  for (const uint32_t submodule : block.submodules) {
    const SubmoduleTime& times = gpu.submodules[submodule];
    out.total += times.total;
    for (const KernelTime& kernel : times.kernels) {
      if (UsesTensorCores(kernel.bound)) tensor += kernel.time;
      if (kernel.bound == KernelBound::kMemory) memory += kernel.time;
    }
  }
  if (out.total <= Time()) return out;
  const auto share = [&](Time part) { return std::min(1.0, part.seconds() / out.total.seconds()); };
  out.tensor_share = share(tensor);
  out.memory_share = std::min(share(memory), 1 - out.tensor_share);
  return out;
}

// Plans with different hashes differ.
uint64_t HashOfPlan(const Plan& plan) {
  uint64_t hash = HashOf(plan.connections.size(), plan.operands.size(), plan.patterns.size(),
                         plan.members.size());
  for (const Connection& c : plan.connections) {
    hash = HashCombine(hash, HashOf(c.from, c.to, c.send_nic, c.recv_nic));
  }
  for (const Pattern& pattern : plan.patterns) {
    for (const Step& step : pattern.steps) hash = HashCombine(hash, HashOf(step.bytes, step.count));
  }
  return hash;
}

bool ByCallAndGroup(const FlowPlan::Assignment& a, const FlowPlan::Assignment& b) {
  return std::tie(a.call, a.group) < std::tie(b.call, b.group);
}

}  // namespace

ReplayIndex::ReplayIndex(const Workload& workload, const FlowPlan& plan)
    : workload_(&workload), plan_(&plan), placement_(workload.topology) {
  int rank = 0;
  for (int host = 0; host < workload.topology.host_count(); ++host) {
    first_rank_.push_back(rank);
    rank += workload.topology.kind_of_host(host).gpus;
  }
}

Result<ReplayIndex> ReplayIndex::Create(const Workload& workload, const FlowPlan& plan,
                                        const KernelTimes& times) {
  return CreateShorter(workload, plan, times, SortedNames(workload));
}

Result<ReplayIndex> ReplayIndex::CreateShorter(const Workload& workload, const FlowPlan& plan,
                                               const KernelTimes& times,
                                               const std::vector<MessageName>& names) {
  ReplayIndex index(workload, plan);
  CHECK(index.placement_.slots.size() >= workload.class_of_rank.size());
  for (const Program& program : workload.programs) {
    index.classes_.push_back(IndexProgram(program, workload.streams.size()));
  }
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    index.op_count_ += static_cast<int64_t>(index.class_of(rank).program->ops.size());
  }
  index.assignments_ = plan.assignments;
  std::sort(index.assignments_.begin(), index.assignments_.end(), ByCallAndGroup);
  index.ShareEqualPlans();
  RETURN_IF_ERROR(index.CheckPlans());
  RETURN_IF_ERROR(index.FillBlockTimes(times));
  RETURN_IF_ERROR(index.NumberCalls(names));
  RETURN_IF_ERROR(index.FindReductions());
  return index;
}

const Plan* ReplayIndex::PlanFor(uint32_t call, uint32_t group) const {
  const FlowPlan::Assignment key{call, group, 0};
  const auto it = std::lower_bound(assignments_.begin(), assignments_.end(), key, ByCallAndGroup);
  if (it == assignments_.end() || it->call != call || it->group != group) return nullptr;
  return &plan_->plans[it->plan];
}

// Groups on different GPUs of a host have separate plans even if the plans are equal.
void ReplayIndex::ShareEqualPlans() {
  std::unordered_multimap<uint64_t, uint32_t> by_hash;  // only looked up
  std::vector<uint32_t> first;                          // by plan: the first equal plan
  for (uint32_t p = 0; p < plan_->plans.size(); ++p) {
    const Plan& plan = plan_->plans[p];
    const uint64_t hash = HashOfPlan(plan);
    uint32_t same = p;
    const auto [begin, end] = by_hash.equal_range(hash);
    for (auto it = begin; it != end && same == p; ++it) {
      if (plan_->plans[it->second] == plan) same = it->second;
    }
    if (same == p) by_hash.emplace(hash, p);
    first.push_back(same);
  }
  for (FlowPlan::Assignment& each : assignments_) each.plan = first[each.plan];
}

Status ReplayIndex::CheckPlans() const {
  for (const Workload::Use& use : workload_->uses) {
    const Plan* plan = PlanFor(use.call, use.group);
    const size_t members = workload_->groups[use.group].ranks.size();
    if (plan == nullptr) {
      return Error(fmt::format("2-flows.pb has no plan for call {} in group {}; run simccl again",
                               use.call, use.group));
    }
    if (plan->members.size() != members) {
      return Error(fmt::format("2-flows.pb: the plan '{}' is for {} members, group {} has {}",
                               plan->name, plan->members.size(), use.group, members));
    }
  }
  return OkStatus();
}

Status ReplayIndex::FillBlockTimes(const KernelTimes& times) {
  if (times.gpus.size() != workload_->topology.gpus.size()) {
    return Error(fmt::format("3-times.pb has {} GPU types, the cluster has {}", times.gpus.size(),
                             workload_->topology.gpus.size()));
  }
  for (const GpuKernelTimes& gpu : times.gpus) {
    if (gpu.submodules.size() != workload_->submodules.size()) {
      return Error(fmt::format("3-times.pb times {} submodules on {}, the workload has {}",
                               gpu.submodules.size(), gpu.gpu, workload_->submodules.size()));
    }
    std::vector<BlockTime>& blocks = block_time_.emplace_back();
    for (const ComputeBlock& block : workload_->blocks) blocks.push_back(TimeOf(block, gpu));
  }
  for (const HostKind& host : workload_->topology.host_kinds) {
    launches_.emplace_back(*workload_, host, times.gpus[static_cast<size_t>(host.gpu)]);
  }
  return OkStatus();
}

Status ReplayIndex::NumberCalls(const std::vector<MessageName>& names) {
  const std::vector<MessageName> own = SortedNames(*workload_);
  if (!std::includes(names.begin(), names.end(), own.begin(), own.end())) {
    return Error("the workload has messages without a number");
  }
  std::vector<int> representative(classes_.size(), -1);
  for (int rank = workload_->rank_count() - 1; rank >= 0; --rank) {
    representative[static_cast<size_t>(workload_->class_of_rank[static_cast<size_t>(rank)])] = rank;
  }
  for (size_t c = 0; c < classes_.size(); ++c) {
    if (representative[c] < 0) continue;
    ClassIndex& index = classes_[c];
    CallCounter counter(names);
    for (size_t i = 0; i < index.program->ops.size(); ++i) {
      const Op& op = index.program->ops[i];
      if (!IsCommunication(op.kind)) continue;
      const int group = group_of(representative[c], op.role);
      const auto fail = [&](const char* why) {
        return Error(fmt::format("op {} of rank {} (role '{}'): {}", i, representative[c],
                                 workload_->roles[op.role].name, why));
      };
      if (group < 0) return fail("the rank is in no group of that role");
      const uint64_t number = counter.Next(group, op, workload_->calls[op.work]);
      if (number >= kMaxCalls) {
        return fail("the group has too many calls: their numbers exceed 32 bits");
      }
      index.sequence[i] = static_cast<uint32_t>(number);
    }
  }
  return OkStatus();
}

// Finds the calls whose plans reduce in the switches. The ops of a group's first member give their
// numbers.
Status ReplayIndex::FindReductions() {
  std::map<const Plan*, bool> known;
  const auto reduces = [&known](const Plan& plan) {
    const auto [entry, added] = known.try_emplace(&plan, false);
    if (!added) return entry->second;
    return entry->second =
               std::any_of(plan.connections.begin(), plan.connections.end(),
                           [](const Connection& connection) { return connection.reduction >= 0; });
  };
  aggregation_ = Aggregation(workload_->topology);
  for (const Workload::Use& use : workload_->uses) {
    const Plan& plan = *PlanFor(use.call, use.group);
    if (!reduces(plan)) continue;
    const std::vector<int>& ranks = workload_->groups[use.group].ranks;
    std::vector<int> hosts;
    for (const int rank : ranks) hosts.push_back(placement_.of(rank).host);
    const ClassIndex& first = class_of(ranks.front());
    for (size_t i = 0; i < first.program->ops.size(); ++i) {
      const Op& op = first.program->ops[i];
      if (!IsCommunication(op.kind) || op.work != use.call) continue;
      if (group_of(ranks.front(), op.role) != static_cast<int>(use.group)) continue;
      RETURN_IF_ERROR(
          aggregation_.Add(MakeCallKey(use.group, first.sequence[i]), plan, use.group, hosts));
    }
  }
  return OkStatus();
}

}  // namespace drydock
