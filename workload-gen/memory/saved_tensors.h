// The tensors that a submodule's forward saves for its backward, in bytes. The rules follow
// Korthikanti et al. 2022, section 4.1. Like that paper, they omit the statistics of norms.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_SAVED_TENSORS_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_SAVED_TENSORS_H_

#include "core/model/workload.h"
#include "workload-gen/memory/working_tensors.h"

namespace drydock {

struct SavedTensors {
  Bytes inputs;    // outputs of other submodules
  Bytes internal;  // created by the submodule: masks, probabilities
  Bytes outputs;   // saved only under ActivationRules::keeps_outputs
  Bytes total() const { return inputs + internal; }
};

// REQUIRES: the pass of `forward` is kForward.
SavedTensors SavedBy(const Submodule& forward, LossTensors loss);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_SAVED_TENSORS_H_
