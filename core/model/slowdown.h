// How much longer messages took than on an empty network, by their size.
#ifndef DRYDOCK_CORE_MODEL_SLOWDOWN_H_
#define DRYDOCK_CORE_MODEL_SLOWDOWN_H_

#include <cstdint>

#include "core/base/units.h"

namespace drydock {

// Of the messages of at most `up_to` bytes, a power of two, and more than half of it. A quantile is
// the smallest slowdown that so many of them do not exceed.
struct SlowdownRow {
  Bytes up_to;
  int64_t messages = 0;
  double median = 1, p95 = 1, p99 = 1, most = 1;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SLOWDOWN_H_
