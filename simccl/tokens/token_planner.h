// Plans the exchanges of tokens that DeepEP and HybridEP make with special kernels, without
// NCCL. A token crosses the network once for each host that needs it, to the GPU with the sender's
// place on that host, which forwards it inside the host. The call's table of pairs has both hops
// (workload-gen/routing/token_routing.h); they overlap. DeepEP's kernels of low latency send a copy
// for each expert straight to the expert's GPU.
//
// A member's kernel has CommCall::sms thread blocks. One program stands for all of them: it sends
// to the peers one after another, each with all SMs, first over the network, then inside the host.
// Data arrives in its place. NICs read and write GPU memory without a proxy on the host.
#ifndef DRYDOCK_SIMCCL_TOKENS_TOKEN_PLANNER_H_
#define DRYDOCK_SIMCCL_TOKENS_TOKEN_PLANNER_H_

#include <memory>
#include <span>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/topology.h"
#include "core/model/workload.h"
#include "core/schema/tokens/token_costs.h"
#include "simccl/planner/collective_planner.h"

namespace drydock {

// Returns the plan of a token exchange over members that live at `members`. Errors: the call is not
// an all-to-all with a table of pairs, or a host without NICs exchanges tokens with another.
// REQUIRES: the call is made for members.size() members.
Result<Plan> PlanTokenExchange(const CommCall& call, std::span<const Placement::Slot> members,
                               const Topology& topology, const TokenCosts& costs);

// Returns a planner that plans exchanges of tokens itself and passes every other call to `others`.
// `topology` outlives the planner. Reads configs/token-exchange.yaml on first use.
std::unique_ptr<CollectivePlanner> MakeTokenPlanner(const Topology& topology,
                                                    std::unique_ptr<CollectivePlanner> others);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_TOKENS_TOKEN_PLANNER_H_
