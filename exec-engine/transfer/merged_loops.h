// Merges iterations of loops in plans, for networks that model a message as a stream of bytes: such
// a network has no packets, so messages of all sizes cost the same work.
//
// A program that loops over chunks moves slice after slice on the same connections. N iterations
// become one, with N times the bytes and N times the cost to the thread block. The network and the
// thread blocks at both ends still work on different parts of a merged slice at the same time
// (ThreadBlocks): its message leaves when the first part is there, if the thread block keeps up
// with the NIC, and the receiver has one part left when the last byte arrives.
//
// Only messages over NICs (send and receive, all-to-all) are merged: in a tree or a chain all
// members wait for the first part, and in a ring neighbors wait for each other at each slice. Only
// Simple is merged, because its costs count bytes.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_MERGED_LOOPS_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_MERGED_LOOPS_H_

#include <cstdint>

#include "core/base/units.h"
#include "core/model/flow_plan.h"

namespace drydock {

// Bounds of the approximation. Shorter slices are not merged: costs that do not count bytes
// dominate them.
inline constexpr Bytes kMinMerged{128 << 10};
// The largest merged slice. NICs serve messages in their order, so messages behind a merged slice
// wait for all of it.
inline constexpr Bytes kMaxMerged{2 << 20};

// How far a network allows to merge.
enum class Merging : uint8_t {
  kNone,
  // Two merged slices are at most the slots of a connection, so a sender has as many bytes in
  // flight as without merging (LocalConnection::slots). Where more is in flight, senders that share
  // a NIC take turns in another order.
  kWithinWindow,
  kLargest  // up to kMaxMerged
};

FlowPlan WithMergedLoops(const FlowPlan& plan, Merging merging);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_MERGED_LOOPS_H_
