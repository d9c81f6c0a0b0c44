// The number of layers of each virtual stage of a pipeline (transformer_block.py in Megatron-LM):
// an even split; uneven at both ends; even with the embedding and the loss counted as a layer each;
// or as parallel.layout states it stage by stage.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYER_SPLIT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYER_SPLIT_H_

#include <string>
#include <vector>

#include "workload-gen/job/training_job.h"

namespace drydock {

struct LayerSplit {
  std::vector<int> layers;  // by virtual stage; empty if the split is impossible
  // If the split is impossible: the key of section `parallel` to report, and the reason.
  std::string key;
  std::string reason;
};

// A pure function.
LayerSplit SplitLayers(int layers, const ParallelRules& parallel);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYER_SPLIT_H_
