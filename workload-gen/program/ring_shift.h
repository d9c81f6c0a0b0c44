// A cyclic shift: each rank of a ring sends to the rank `hop` positions ahead, in one grouped call.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_RING_SHIFT_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_RING_SHIFT_H_

#include <cstdint>

#include "core/model/workload.h"

namespace drydock {

// `count`: elements of a message. `hop`: the distance of the receiver, negative for lower ranks.
// REQUIRES: |hop| is below the number of ranks.
CommCall RingShift(int ranks, DataType type, int64_t count, int hop,
                   BufferKind buffers = BufferKind::kPlain);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_RING_SHIFT_H_
