// Loops of plans with fewer, larger turns, for networks that take a message as a stream of bytes:
// it has no packets to follow, and a message costs it the same however long it is.
//
// A program that loops over chunks moves slice after slice on the same connections. Of N turns one
// is made, with N times the bytes, and with what N of them cost the thread block. Of a merged slice
// the network and the thread blocks at its ends still work on different parts at once
// (TransferEngine): its message leaves when the first part is there, if the thread block keeps up
// with the NIC, and the receiver has one part left to do when the last byte is in.
//
// Only messages over NICs (send and receive, all-to-all): in a tree or a chain everybody waits for
// the first part, and in a ring neighbours wait for one another at each slice. Only Simple, whose
// costs are by the byte.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_MERGED_LOOPS_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_MERGED_LOOPS_H_

#include "core/base/units.h"
#include "core/model/flow_plan.h"

namespace drydock {

// Slices that are shorter stay as they are: there what is not by the byte counts.
inline constexpr Bytes kLeastMerged{128 << 10};
// A merged slice is at most so long: NICs serve messages in turn, and what waits behind it waits
// for all of it.
inline constexpr Bytes kMostMerged{2 << 20};

FlowPlan WithMergedLoops(const FlowPlan& plan);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_MERGED_LOOPS_H_
