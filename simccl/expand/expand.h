// From what NCCL would launch to what every member does: the loops of NCCL's device kernels
// (src/device of NCCL 2.29.7), written out as steps over connections.
//
// Each function adds the programs of all members to the builder's plan. Offsets are bytes in the
// larger of the call's two buffers: the gathered output, the full input of a reduce-scatter.
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

// A channel's part of a collective, in elements.
struct ChannelShare {
  int64_t offset = 0;
  int64_t count = 0;
  int64_t chunk = 0;
};
ChannelShare ShareOf(const hacknccl_collective& work, int channel);

// A channel's part of a collective that strides over the whole buffer (`even`), in bytes:
// for (at = base; at < base + total; at += stride) the `window` at `at`, or what is left.
struct EvenShare {
  int64_t base = 0;
  int64_t total = 0;
  int64_t stride = 0;
  int64_t window = 0;
};
// With this many chunks in a window.
EvenShare EvenShareOf(const hacknccl_collective& work, int channel, int64_t chunks);

// How an error says that NCCL chose `what` for `call`, and that this has no expansion here.
Error NoExpansion(const std::string& what, const std::string& call);

// An error that names what NCCL chose if it did not choose kernels of the kinds below.
Status CheckKernels(const NcclPlan& plan, size_t calls);

// Any collective; an error names an algorithm that is not expanded.
Status ExpandCollective(const hacknccl_collective& work, PlanBuilder* builder);

// all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h, reduce.h: runRing.
Status ExpandRing(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: runTreeSplit.
Status ExpandTree(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: NCCL_ALGO_COLLNET_CHAIN and NCCL_ALGO_COLLNET_DIRECT.
Status ExpandCollNetChain(const hacknccl_collective& work, PlanBuilder* builder);
Status ExpandCollNetDirect(const hacknccl_collective& work, PlanBuilder* builder);
// all_gather.h, reduce_scatter.h: NCCL_ALGO_COLLNET_DIRECT, and NCCL_ALGO_NVLS on several hosts.
Status ExpandCollNetParts(const hacknccl_collective& work, PlanBuilder* builder);
// NCCL_ALGO_NVLS: on one host all_reduce.h, all_gather.h, reduce_scatter.h; on several, which
// switches join, all_reduce.h.
Status ExpandNvls(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: NCCL_ALGO_NVLS_TREE.
Status ExpandNvlsTree(const hacknccl_collective& work, PlanBuilder* builder);

// all_gather.h, reduce_scatter.h: NCCL_ALGO_PAT.
Status ExpandPat(const hacknccl_collective& work, PlanBuilder* builder);

// Broadcasts with different roots that NCCL runs as one kernel, of every channel. `bases`: where
// the buffer of each call of the launch begins. all_gather_v.h: runAllGatherV.
Status ExpandBroadcasts(std::span<const hacknccl_broadcast> works, std::span<const int64_t> bases,
                        PlanBuilder* builder);

// Where the message to or from a member lies in the call's buffer.
struct MessagePlace {
  int peer = 0;
  int64_t offset = 0;
};

// What one member calls in one group: sends and receives, or calls that NCCL makes of them, and
// collectives.
struct MemberCalls {
  std::vector<hacknccl_call> calls;
  // By peer; those of one peer in the order of the calls.
  std::vector<MessagePlace> sends, receives;
};

struct GroupOfCalls {
  // By member. If there are no messages all call the same, and only the first is here.
  std::vector<MemberCalls> members;
  std::vector<int64_t> bases;  // where the buffer of each call of the first member begins
  bool has_messages = false;
};

// sendrecv.h: the messages of a group. `first` is what the first member launches.
Status ExpandMessages(const GroupOfCalls& group, const NcclPlan& first, PlanBuilder* builder);

// All that NCCL launches for a group of calls, which may be one call: its collectives, its
// broadcasts with different roots, its messages, each a work or more, in this order, as NCCL has
// it.
Status ExpandCalls(const GroupOfCalls& group, PlanBuilder* builder);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_EXPAND_H_
