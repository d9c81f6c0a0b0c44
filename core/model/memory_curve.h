// What PyTorch's allocator holds on the ranks that need most memory, op by op. Plain data.
#ifndef DRYDOCK_CORE_MODEL_MEMORY_CURVE_H_
#define DRYDOCK_CORE_MODEL_MEMORY_CURVE_H_

#include <vector>

#include "core/base/units.h"

namespace drydock {

struct MemoryCurve {
  int class_index = 0;           // the rank class that needs most
  std::vector<Bytes> allocated;  // by op of its program: at the op's fullest moment
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_MEMORY_CURVE_H_
