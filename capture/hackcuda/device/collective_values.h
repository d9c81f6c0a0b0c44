// What a collective leaves in the buffers of this rank, if each absent rank holds what this rank
// holds: a gather repeats the values, a sum multiplies them. Only small buffers are filled; see
// memory.h.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COLLECTIVE_VALUES_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COLLECTIVE_VALUES_H_

#include <cstddef>

#include "core/nccl/recording.h"

namespace drydock::hackcuda {

// As CaptureApi::move (core/nccl/capture.h).
void MoveValues(const RecordEntry* call, const void* send, void* receive, size_t element,
                int ranks);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COLLECTIVE_VALUES_H_
