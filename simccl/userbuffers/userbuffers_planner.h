// Plans the communication that Transformer Engine does itself (common/comm_gemm_overlap). It
// overlaps tensor-parallel communication with GEMMs in buffers called userbuffers, without NCCL:
//
//   group of messages   a copy engine writes each message into its receiver's buffer
//   all-gather          every member's kernel stores its part into the others' buffers
//   reduce-scatter      every member's kernel loads its part of the others' buffers and sums them
//
// A kernel has one SM per channel, and at most as many SMs as Transformer Engine takes by default.
#ifndef DRYDOCK_SIMCCL_USERBUFFERS_USERBUFFERS_PLANNER_H_
#define DRYDOCK_SIMCCL_USERBUFFERS_USERBUFFERS_PLANNER_H_

#include <memory>
#include <span>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/topology.h"
#include "core/model/workload.h"
#include "simccl/planner/collective_planner.h"

namespace drydock {

// num_sm of the bulk and pipelined kernels (Transformer Engine, pytorch/module/base.py).
inline constexpr int kUserBufferSms = 16;

// Returns true if the call, or any call of a group, is made in userbuffers.
bool UsesUserBuffers(const CommCall& call);

// Returns the plan of a call in userbuffers over members that live at `members`. Errors: the
// members do not share a host, or Transformer Engine has no such kernel. REQUIRES: the call is made
// for members.size() members.
Result<Plan> PlanUserBuffers(const CommCall& call, std::span<const Placement::Slot> members);

// Returns a planner that plans calls in userbuffers itself and passes every other call to `others`.
std::unique_ptr<CollectivePlanner> MakeUserBuffersPlanner(
    std::unique_ptr<CollectivePlanner> others);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_USERBUFFERS_USERBUFFERS_PLANNER_H_
