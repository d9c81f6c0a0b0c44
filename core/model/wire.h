// What a chunk takes on a link, by protocol.
#ifndef DRYDOCK_CORE_MODEL_WIRE_H_
#define DRYDOCK_CORE_MODEL_WIRE_H_

#include <cstdint>

#include "core/model/flow_plan.h"

namespace drydock {

// Bytes on the wire of one primitive's `bytes` of payload (NCCL src/device/prims_ll.h,
// prims_ll128.h: what they tell the proxy to send):
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

#endif  // DRYDOCK_CORE_MODEL_WIRE_H_
