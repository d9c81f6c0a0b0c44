// From what NCCL would launch to what every member does: the loops of NCCL's device kernels
// (src/device of NCCL 2.29.7), written out as steps over connections.
//
// Each function adds the programs of all members to the builder's plan. Offsets are bytes in the
// larger of the call's two buffers: the gathered output, the full input of a reduce-scatter.
#ifndef DRYDOCK_SIMCCL_EXPAND_H_
#define DRYDOCK_SIMCCL_EXPAND_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/hacknccl.h"
#include "simccl/plan_builder.h"

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

// Any collective; an error names an algorithm that is not expanded.
Status ExpandCollective(const hacknccl_collective& work, PlanBuilder* builder);

// all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h, reduce.h: runRing.
Status ExpandRing(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: runTreeSplit.
Status ExpandTree(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: NCCL_ALGO_COLLNET_CHAIN and NCCL_ALGO_COLLNET_DIRECT.
Status ExpandCollNetChain(const hacknccl_collective& work, PlanBuilder* builder);
Status ExpandCollNetDirect(const hacknccl_collective& work, PlanBuilder* builder);
// NCCL_ALGO_NVLS: on one host all_reduce.h, all_gather.h, reduce_scatter.h; on several, which
// switches join, all_reduce.h.
Status ExpandNvls(const hacknccl_collective& work, PlanBuilder* builder);
// all_reduce.h: NCCL_ALGO_NVLS_TREE.
Status ExpandNvlsTree(const hacknccl_collective& work, PlanBuilder* builder);

// all_gather.h, reduce_scatter.h: NCCL_ALGO_PAT.
Status ExpandPat(const hacknccl_collective& work, PlanBuilder* builder);

// What one member calls in one group: sends and receives, or a call that NCCL makes of them. Where
// the message to or from each member lies in its buffers, in bytes.
struct MemberMessages {
  std::vector<hacknccl_call> calls;
  std::vector<int64_t> send_offset, receive_offset;  // [peer]
};
using Messages = std::vector<MemberMessages>;  // [member]

// sendrecv.h. At most one message from each member to each.
Status ExpandMessages(const Messages& messages, PlanBuilder* builder);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_H_
