// The tensors that a module of a layer saves and training.offload_modules copies to the host.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_OFFLOADED_TENSORS_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_OFFLOADED_TENSORS_H_

#include <string>
#include <vector>

#include "workload-gen/job/memory_rules.h"
#include "workload-gen/work/layer_work.h"

namespace drydock {

struct OffloadedTensors {
  Bytes left;  // the GPU no longer holds these
  // Copied too, although the copies free nothing: autograd saves a tensor for each operator that
  // reads it, and each of them is copied.
  Bytes again;
};

// Returns whether the layer has the module apart: Transformer Engine fuses the norm before dense
// MLPs, and that before standard attention, with the linear layer behind it.
bool HasModule(OffloadModule module, const LayerWork& layer);

// REQUIRES: HasModule(module, layer).
OffloadedTensors OffloadedBy(OffloadModule module, const LayerWork& layer, const TrainingJob& job,
                             const ParallelLayout& layout, const WorkTables& tables);

// The names of the submodules that may save the module's tensors.
const std::vector<std::string>& SubmodulesOf(OffloadModule module);
// The name of the transfers of OffloadedTensors::left ("core_attn") or of `again`.
std::string TransferName(OffloadModule module, bool again);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_OFFLOADED_TENSORS_H_
