// How much longer messages took than on an idle network, by size.
#ifndef DRYDOCK_CORE_MODEL_SLOWDOWN_H_
#define DRYDOCK_CORE_MODEL_SLOWDOWN_H_

#include <cstdint>

#include "core/base/units.h"

namespace drydock {

// The messages above up_to / 2 and up to `up_to` bytes, a power of two. A quantile is the smallest
// slowdown that this share of the messages does not exceed.
struct SlowdownRow {
  Bytes up_to;
  int64_t messages = 0;
  double median = 1, p95 = 1, p99 = 1, most = 1;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SLOWDOWN_H_
