// How a chunk moves: in which slices, and what it takes on a wire.
#ifndef DRYDOCK_CORE_MODEL_CALLS_SLICES_H_
#define DRYDOCK_CORE_MODEL_CALLS_SLICES_H_

#include <algorithm>
#include <cstdint>

#include "core/model/flow_plan.h"

namespace drydock {

// Of the slices of a chunk of `bytes` (> 0); the last may be shorter.
inline int64_t SliceBytes(const Work& work, int64_t bytes) {
  int64_t slice = work.slice_bytes;
  if (work.slices > 0) {
    const int64_t together = work.slices * work.slice_grain;
    slice = std::max(slice, (bytes + together - 1) / together * work.slice_grain);
  }
  return slice > 0 ? slice : bytes;
}

inline int64_t SliceCount(const Work& work, int64_t bytes) {
  const int64_t slice = SliceBytes(work, bytes);
  return bytes <= slice ? 1 : (bytes + slice - 1) / slice;
}

// Slots that a chunk takes in a connection's buffer: NCCL steps over those of slices that have
// nothing in them.
inline int64_t SlotsOfChunk(const Work& work, int64_t bytes) {
  return std::max<int64_t>(work.slices, SliceCount(work, bytes));
}

// Bytes on the wire of a slice's `bytes` of payload (NCCL src/device/prims_ll.h, prims_ll128.h:
// what they tell the proxy to send):
//   LL      every line of 16 B carries 8 B of payload beside two flags;
//   LL128   every 128 B carry 120 B beside a flag, and a warp writes 16 such lines at once;
//   Simple  nothing but payload.
constexpr int64_t WireBytes(Protocol protocol, int64_t bytes) {
  switch (protocol) {
    case Protocol::kLl:
      return (bytes + 7) / 8 * 16;
    case Protocol::kLl128:
      return (bytes + 16 * 120 - 1) / (16 * 120) * (16 * 128);
    case Protocol::kSimple:
      break;
  }
  return bytes;
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_SLICES_H_
