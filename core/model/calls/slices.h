// How a chunk moves: its slices and their size on the wire.
#ifndef DRYDOCK_CORE_MODEL_CALLS_SLICES_H_
#define DRYDOCK_CORE_MODEL_CALLS_SLICES_H_

#include <algorithm>
#include <cstdint>

#include "core/model/flow_plan.h"

namespace drydock {

// Returns the size of the slices of a chunk of `bytes` (> 0); the last slice may be shorter.
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

// Returns the number of slots of a connection's buffer that a chunk takes. NCCL skips the slots of
// empty slices.
inline int64_t SlotsOfChunk(const Work& work, int64_t bytes) {
  return std::max<int64_t>(work.slices, SliceCount(work, bytes));
}

// Returns the bytes on the wire of a slice with `bytes` of payload (NCCL src/device/prims_ll.h and
// prims_ll128.h: the sizes they pass to the proxy):
//   LL      every line of 16 B carries 8 B of payload and two flags;
//   LL128   every 128 B carry 120 B of payload and a flag, and a warp writes 16 such lines at once;
//   Simple  payload only.
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
