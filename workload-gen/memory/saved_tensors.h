// What a submodule's forward leaves in memory for its backward, tensor by tensor. Sizes in bytes.
// Rules follow Korthikanti et al. 2022, section 4.1, for what they count; small vectors (norm
// statistics, the log-sum-exp of attention) are left out as there.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_SAVED_TENSORS_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_SAVED_TENSORS_H_

#include "core/model/workload.h"

namespace drydock {

struct SavedTensors {
  Bytes inputs;    // what came in: another submodule's output
  Bytes internal;  // made by the submodule itself: masks, probabilities
  Bytes outputs;   // what went out; saved only by who keeps outputs
  Bytes total() const { return inputs + internal; }
};

// `forward`: of pass kForward.
SavedTensors SavedBy(const Submodule& forward);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_SAVED_TENSORS_H_
