// What Transformer Engine's userbuffers do (common/comm_gemm_overlap): they overlap tensor-parallel
// communication with products and move the data themselves, NCCL not asked.
//
//   group of messages   a copy engine writes each into its receiver's buffer
//   all-gather          every member's kernel stores its part into the others' buffers
//   reduce-scatter      every member's kernel loads its part of the others' buffers and sums them
//
// Kernels have an SM for each channel, and no more of them than Transformer Engine takes by
// default.
#ifndef DRYDOCK_SIMCCL_PLAN_USERBUFFERS_H_
#define DRYDOCK_SIMCCL_PLAN_USERBUFFERS_H_

#include <span>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {

// num_sm of the bulk and pipelined kernels (pytorch/module/base.py).
inline constexpr int kUserBufferSms = 16;

// True if the call, or a call of the group, is said to go past NCCL.
bool UsesUserBuffers(const CommCall& call);

// `members`: where the group's live. An error if they do not share a host, or there is no such
// kernel.
Result<Plan> PlanUserBuffers(const CommCall& call, std::span<const Placement::Slot> members);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_USERBUFFERS_H_
