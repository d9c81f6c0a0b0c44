// hacknccl_plan with ownership: what a group of calls would launch. Both sides of the C interface
// use this struct; across the interface goes its view.
#ifndef DRYDOCK_CORE_NCCL_HACKNCCL_OWNED_PLAN_H_
#define DRYDOCK_CORE_NCCL_HACKNCCL_OWNED_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/nccl/hacknccl_plan.h"

namespace drydock {

// The fields are those of hacknccl_plan. By default the plan launches nothing.
struct NcclPlan {
  int kind = HACKNCCL_PLAN_LOCAL;
  int kernels = 0;
  int threads = 0;
  std::string symmetric_kernel;
  std::vector<hacknccl_collective> collectives;
  std::vector<hacknccl_exchange> exchanges;
  std::vector<hacknccl_broadcast> broadcasts;
  std::vector<hacknccl_proxy_op> proxy_ops;
  std::vector<hacknccl_batch> batches;
  std::vector<uint32_t> batch_works;
  std::vector<hacknccl_decision> decisions;
};

// Returns a view that points into `plan`.
inline hacknccl_plan ViewOf(const NcclPlan& plan) {
  hacknccl_plan view = {};
  view.kind = plan.kind;
  view.kernels = plan.kernels;
  view.threads = plan.threads;
  view.symmetric_kernel = plan.symmetric_kernel.c_str();
  const auto set = [](const auto& list, auto* first, size_t* count) {
    *first = list.data();
    *count = list.size();
  };
  set(plan.collectives, &view.collectives, &view.collective_count);
  set(plan.exchanges, &view.exchanges, &view.exchange_count);
  set(plan.broadcasts, &view.broadcasts, &view.broadcast_count);
  set(plan.proxy_ops, &view.proxy_ops, &view.proxy_op_count);
  set(plan.batches, &view.batches, &view.batch_count);
  set(plan.batch_works, &view.batch_works, &view.batch_work_count);
  set(plan.decisions, &view.decisions, &view.decision_count);
  return view;
}

// Copies everything that `view` points to.
inline NcclPlan CopyOf(const hacknccl_plan& view) {
  NcclPlan plan;
  plan.kind = view.kind;
  plan.kernels = view.kernels;
  plan.threads = view.threads;
  plan.symmetric_kernel = view.symmetric_kernel;
  plan.collectives.assign(view.collectives, view.collectives + view.collective_count);
  plan.exchanges.assign(view.exchanges, view.exchanges + view.exchange_count);
  plan.broadcasts.assign(view.broadcasts, view.broadcasts + view.broadcast_count);
  plan.proxy_ops.assign(view.proxy_ops, view.proxy_ops + view.proxy_op_count);
  plan.batches.assign(view.batches, view.batches + view.batch_count);
  plan.batch_works.assign(view.batch_works, view.batch_works + view.batch_work_count);
  plan.decisions.assign(view.decisions, view.decisions + view.decision_count);
  return plan;
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_HACKNCCL_OWNED_PLAN_H_
