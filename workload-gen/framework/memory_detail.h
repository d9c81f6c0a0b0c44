// What to work out of a job's memory beside the parts at its peak, which decide whether it fits.
#ifndef DRYDOCK_WORKLOAD_GEN_FRAMEWORK_MEMORY_DETAIL_H_
#define DRYDOCK_WORKLOAD_GEN_FRAMEWORK_MEMORY_DETAIL_H_

#include <vector>

#include "core/base/units.h"
#include "core/model/memory_curve.h"

namespace drydock {

struct MemoryDetail {
  bool reserved = true;          // what PyTorch's allocator reserves: most of the work
  MemoryCurve* curve = nullptr;  // what the fullest ranks hold op by op; null: not needed
  // By layer of the first class's ranks, what they save for one micro-batch; null: not needed.
  std::vector<Bytes>* saved_by_layer = nullptr;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_FRAMEWORK_MEMORY_DETAIL_H_
