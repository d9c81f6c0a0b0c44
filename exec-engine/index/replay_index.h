// The workload in the form the replay reads: by rank class, the successors of each op in its
// dependencies and in its stream; the time of each block on each GPU; and the sequence number of
// each communication op in its group. Built once, immutable except known_times(), and shared by all
// hosts and threads.
#ifndef DRYDOCK_EXEC_ENGINE_INDEX_REPLAY_INDEX_H_
#define DRYDOCK_EXEC_ENGINE_INDEX_REPLAY_INDEX_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/call_numbers.h"
#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"
#include "exec-engine/host/launch_table.h"
#include "exec-engine/index/known_times.h"
#include "exec-engine/transfer/aggregation.h"

namespace drydock {

inline constexpr uint32_t kNoOp = UINT32_MAX;

// The time of a block that has the GPU to itself, and the shares of it that tensor cores and memory
// bound.
struct BlockTime {
  Time total;
  double tensor_share = 0, memory_share = 0;
};

struct ClassIndex {
  const Program* program = nullptr;
  std::vector<uint32_t> successor_begin, successor;  // CSR: ops that depend on op
  std::vector<uint32_t> next_in_stream;              // by op; kNoOp at the end
  std::vector<uint32_t> first_in_stream;             // by stream; kNoOp if unused
  // By communication op: the number of its call in the group (call_numbers.h).
  std::vector<uint32_t> sequence;
  std::span<const uint32_t> successors(uint32_t op) const {
    return std::span(successor).subspan(successor_begin[op],
                                        successor_begin[op + 1] - successor_begin[op]);
  }
};

class ReplayIndex {
 public:
  // The three arguments outlive the index. Returns an error if they are inconsistent, or have more
  // groups, calls or connections than a message can name.
  static Result<ReplayIndex> Create(const Workload& workload, const FlowPlan& plan,
                                    const KernelTimes& times);
  // The same for a workload without some periods of another one, by whose messages calls are
  // numbered (SortedNames). Returns an error also if it has other messages.
  static Result<ReplayIndex> CreateShorter(const Workload& workload, const FlowPlan& plan,
                                           const KernelTimes& times,
                                           const std::vector<MessageName>& names);

  const Workload& workload() const { return *workload_; }
  const ClassIndex& class_of(int rank) const {
    return classes_[static_cast<size_t>(workload_->class_of_rank[static_cast<size_t>(rank)])];
  }
  const Placement& placement() const { return placement_; }
  // Returns the rank of the host's first GPU, which the workload need not use.
  int first_rank(int host) const { return first_rank_[static_cast<size_t>(host)]; }
  const BlockTime& block_time(int gpu_type, uint32_t block) const {
    return block_time_[static_cast<size_t>(gpu_type)][block];
  }
  const LaunchTable& launches(int host_kind) const {
    return launches_[static_cast<size_t>(host_kind)];
  }
  // Of the rank's host.
  const LaunchTable& launches_of(int rank) const {
    const int host = placement_.of(rank).host;
    return launches(workload_->topology.hosts[static_cast<size_t>(host)]);
  }
  int group_of(int rank, uint8_t role) const {
    return workload_->group_of_rank[role][static_cast<size_t>(rank)];
  }
  // Returns null if the flow plan has no plan for this call and group. Equal plans are one object.
  const Plan* PlanFor(uint32_t call, uint32_t group) const;
  int64_t op_count() const { return op_count_; }  // over all ranks
  const Aggregation& aggregation() const { return aggregation_; }
  // Filled during the replay. Thread-safe.
  KnownTimes& known_times() const { return *known_times_; }

 private:
  ReplayIndex(const Workload& workload, const FlowPlan& plan);
  void ShareEqualPlans();
  Status CheckPlans() const;
  Status FillBlockTimes(const KernelTimes& times);
  Status NumberCalls(const std::vector<MessageName>& names);
  Status FindReductions();

  const Workload* workload_;
  const FlowPlan* plan_;
  Placement placement_;
  std::vector<int> first_rank_;  // by host
  std::vector<ClassIndex> classes_;
  std::vector<std::vector<BlockTime>> block_time_;  // [GPU type][block]
  std::vector<LaunchTable> launches_;               // by host kind
  std::vector<FlowPlan::Assignment> assignments_;   // sorted by (call, group)
  int64_t op_count_ = 0;
  Aggregation aggregation_;
  std::unique_ptr<KnownTimes> known_times_ = std::make_unique<KnownTimes>();
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_INDEX_REPLAY_INDEX_H_
