// Expands what NCCL would launch into what every member does: the loops of NCCL's device kernels
// (src/device of NCCL 2.29.7) as steps over connections.
//
// Each function adds the programs of all members to the builder's plan. Offsets are bytes in the
// larger of the call's two buffers: the output of an all-gather, the input of a reduce-scatter.
#ifndef DRYDOCK_SIMCCL_EXPAND_EXPAND_H_
#define DRYDOCK_SIMCCL_EXPAND_EXPAND_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/hacknccl.h"
#include "simccl/expand/plan_builder.h"

namespace drydock {

// A channel's share of a collective, in elements.
struct ChannelShare {
  int64_t offset = 0;
  int64_t count = 0;
  int64_t chunk = 0;
};
ChannelShare ShareOf(const hacknccl_collective& work, int channel);

// A channel's share of a collective that strides over the whole buffer (`even`), in bytes:
// for (at = base; at < base + total; at += stride), the window of at most `window` bytes at `at`.
struct EvenShare {
  int64_t base = 0;
  int64_t total = 0;
  int64_t stride = 0;
  int64_t window = 0;
};
// Returns the share of a channel whose windows have `chunks` chunks.
EvenShare EvenShareOf(const hacknccl_collective& work, int channel, int64_t chunks);

// Returns the error that NCCL chose `what` for `call`, which Drydock does not expand.
Error NoExpansion(const std::string& what, const std::string& call);

// Returns an error that names NCCL's choice unless NCCL chose kernels that this header expands.
Status CheckKernels(const NcclPlan& plan, size_t calls);

// Expands any collective. The error names an algorithm that Drydock does not expand.
Status ExpandCollective(const hacknccl_collective& work, PlanBuilder* builder);

// all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h, reduce.h: runRing.
Status ExpandRing(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: runTreeSplit.
Status ExpandTree(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: NCCL_ALGO_COLLNET_CHAIN and NCCL_ALGO_COLLNET_DIRECT.
Status ExpandCollNetChain(const hacknccl_collective& work, PlanBuilder* builder);
Status ExpandCollNetDirect(const hacknccl_collective& work, PlanBuilder* builder);
// all_gather.h, reduce_scatter.h: NCCL_ALGO_COLLNET_DIRECT, and NCCL_ALGO_NVLS on several hosts.
Status ExpandCollNetGatherScatter(const hacknccl_collective& work, PlanBuilder* builder);
// NCCL_ALGO_NVLS: on one host all_reduce.h, all_gather.h, reduce_scatter.h; on several hosts,
// joined by the switches, all_reduce.h.
Status ExpandNvls(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: NCCL_ALGO_NVLS_TREE.
Status ExpandNvlsTree(const hacknccl_collective& work, PlanBuilder* builder);

// all_gather.h, reduce_scatter.h: NCCL_ALGO_PAT.
Status ExpandPat(const hacknccl_collective& work, PlanBuilder* builder);

// Expands the broadcasts with different roots that NCCL runs as one kernel, on every channel.
// `bases` has the offset of each call's buffer. all_gather_v.h: runAllGatherV.
Status ExpandBroadcasts(std::span<const hacknccl_broadcast> works, std::span<const int64_t> bases,
                        PlanBuilder* builder);

// The offset of the message to or from `peer` in the call's buffer.
struct MessagePlace {
  int peer = 0;
  int64_t offset = 0;
};

// The calls that one member makes in one group: collectives, sends and receives, and calls that
// NCCL makes of sends and receives.
struct MemberCalls {
  std::vector<hacknccl_call> calls;
  // Sorted by peer; messages of one peer keep the order of the calls.
  std::vector<MessagePlace> sends, receives;
};

struct GroupOfCalls {
  // By member. Without messages all members make the same calls, and only the first is listed.
  std::vector<MemberCalls> members;
  std::vector<int64_t> bases;  // offset of the buffer of each call of the first member
  bool has_messages = false;
};

// sendrecv.h: expands the messages of a group. `first` is what the first member launches.
Status ExpandMessages(const GroupOfCalls& group, const NcclPlan& first, PlanBuilder* builder);

// Expands everything that NCCL launches for a group of one or more calls, in NCCL's order: the
// collectives, the broadcasts with different roots, the messages. Each takes one or more works.
Status ExpandCalls(const GroupOfCalls& group, PlanBuilder* builder);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_EXPAND_H_
