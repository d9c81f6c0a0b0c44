// What NCCL launches for a group of calls, kernel by kernel.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "simccl/expand.h"

namespace drydock {
namespace {

// By collective or broadcast: the kernel it is part of.
std::vector<int> KernelsOf(const NcclPlan& plan, int works, size_t count) {
  std::vector<int> kernels(count, 0);
  for (const hacknccl_batch& batch : plan.batches) {
    if (batch.works != works) continue;
    for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
      kernels[plan.batch_works[i]] = batch.kernel;
    }
  }
  return kernels;
}

// The works of a plan, one after another.
class Sequence {
 public:
  explicit Sequence(PlanBuilder* builder) : builder_(builder) {}

  void Begin(int launch, int64_t base) {
    if (begun_) builder_->NextWork();
    begun_ = true;
    builder_->work().launch = launch;
    builder_->SetBase(base);
  }

 private:
  PlanBuilder* builder_;
  bool begun_ = false;
};

}  // namespace

Status CheckKernels(const NcclPlan& plan, size_t calls) {
  const char* const whose = calls > 1 ? "these calls" : "this call";
  switch (plan.kind) {
    case HACKNCCL_PLAN_SYMMETRIC:
      return NoExpansion("a kernel on symmetric memory", whose);
    case HACKNCCL_PLAN_COPY_ENGINE:
      return NoExpansion("copy engines", whose);
    case HACKNCCL_PLAN_RMA:
      return NoExpansion("one-sided puts", whose);
    default:
      return OkStatus();
  }
}

Status ExpandCalls(const GroupOfCalls& group, PlanBuilder* builder) {
  NcclPlan first;  // what does not depend on the member
  if (!group.members.front().calls.empty()) {
    ASSIGN_OR_RETURN(first, builder->communicator().Launch(0, group.members.front().calls));
  }
  RETURN_IF_ERROR(CheckKernels(first, group.members.front().calls.size()));
  Sequence works(builder);
  const std::vector<int> kernels = KernelsOf(first, HACKNCCL_COLLECTIVES, first.collectives.size());
  for (size_t i = 0; i < first.collectives.size(); ++i) {
    const hacknccl_collective& collective = first.collectives[i];
    works.Begin(kernels[i], group.bases[static_cast<size_t>(collective.call)]);
    RETURN_IF_ERROR(ExpandCollective(collective, builder));
  }
  const std::vector<int> broadcast_kernels =
      KernelsOf(first, HACKNCCL_BROADCASTS, first.broadcasts.size());
  for (size_t begin = 0; begin < first.broadcasts.size();) {
    const auto from = broadcast_kernels.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count =
        static_cast<size_t>(std::upper_bound(from, broadcast_kernels.end(), *from) - from);
    works.Begin(*from, 0);
    RETURN_IF_ERROR(
        ExpandBroadcasts(std::span(first.broadcasts).subspan(begin, count), group.bases, builder));
    begin += count;
  }
  if (!group.has_messages) return OkStatus();
  works.Begin(builder->work().launch, 0);
  return ExpandMessages(group, first, builder);
}

}  // namespace drydock
