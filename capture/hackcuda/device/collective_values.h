// What a collective leaves in the buffers of this rank, if each absent rank holds what this rank
// holds: a gather repeats the values, a sum multiplies them, and an absent rank sends to this rank
// what this rank sends to itself. Only small buffers are filled (memory.h). What they hold is known
// as well as the values that it is made of; all else is unknown.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COLLECTIVE_VALUES_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COLLECTIVE_VALUES_H_

#include <cstddef>

#include "core/nccl/recording.h"

namespace drydock::hackcuda {

// As CaptureApi::move (core/nccl/capture.h).
void MoveValues(const RecordEntry* call, const void* send, void* receive, size_t element,
                int ranks);
// The thread's group of calls has ended.
void EndMessages();

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COLLECTIVE_VALUES_H_
