// One step round a ring of ranks: each sends to the next and receives from the one before, in one
// group.
#ifndef DRYDOCK_WORKLOAD_GEN_RING_SHIFT_H_
#define DRYDOCK_WORKLOAD_GEN_RING_SHIFT_H_

#include <cstdint>

#include "core/model/workload.h"

namespace drydock {

// `count` elements a message; `up`: to the rank of the next higher number.
CommCall RingShift(int ranks, DataType type, int64_t count, bool up,
                   BufferKind buffers = BufferKind::kPlain);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_RING_SHIFT_H_
