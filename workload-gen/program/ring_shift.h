// Each of a ring's ranks sends to the one so many places further on, in one group.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_RING_SHIFT_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_RING_SHIFT_H_

#include <cstdint>

#include "core/model/workload.h"

namespace drydock {

// `count` elements a message; `hop`: to the rank that much higher (lower if negative), less than
// all ranks.
CommCall RingShift(int ranks, DataType type, int64_t count, int hop,
                   BufferKind buffers = BufferKind::kPlain);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_RING_SHIFT_H_
