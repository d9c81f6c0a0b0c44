// Small values that one rank broadcasts to others. Nothing that an absent root holds can be
// guessed, so the root's process keeps them in a folder (kValuesVariable), and processes of
// other ranks that run later read them. The n-th broadcast of a communicator by its root is the
// n-th for each member.
//
// Thread-safe.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_BROADCASTS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_BROADCASTS_H_

#include <cstddef>

#include "core/nccl/recording.h"

namespace drydock::hackcuda {

// The root keeps `buffer`, others read into it. Returns false if its values are unknown, and marks
// that in the log.
bool ShareBroadcast(const RecordEntry& call, const void* buffer, size_t bytes);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_BROADCASTS_H_
