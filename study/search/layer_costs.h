// What each layer of a model costs a rank for one micro-batch, at the least: read off a workload
// whose ranks have all layers. Layouts that differ in their pipeline alone have the same costs.
#ifndef DRYDOCK_STUDY_SEARCH_LAYER_COSTS_H_
#define DRYDOCK_STUDY_SEARCH_LAYER_COSTS_H_

#include <vector>

#include "core/base/units.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

struct LayerCost {
  Time forward, backward;  // least times (passes.h)
  Bytes saved;             // for backward
};

struct LayerCosts {
  std::vector<LayerCost> layers;
  LayerCost embedding, head;
};

// `saved`: by layer, what a rank saves for one micro-batch. REQUIRES: the ranks of the workload
// have one stage of all `layers` layers, and at least two micro-batches.
LayerCosts LayerCostsOf(const Workload& workload, const KernelTimes& times, int layers,
                        const std::vector<Bytes>& saved);

// The least time of an iteration with this layout. A rank runs all micro-batches through its
// layers; before its first one, the earlier stages run it forward, and after its last one, they run
// it backward.
Time LeastTimeOf(const ParallelLayout& layout, const LayerCosts& costs);

// What a stage saves at the least for the micro-batches in flight there.
Bytes LeastSaved(const ParallelLayout& layout, const LayerCosts& costs, int stage);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_LAYER_COSTS_H_
