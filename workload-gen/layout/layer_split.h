// How many layers each virtual stage of a pipeline gets (Megatron's transformer_block.py): even;
// uneven at both ends; even with the embedding and the loss counted as a layer each; or as a layout
// says it stage by stage. Pure.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYER_SPLIT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYER_SPLIT_H_

#include <string>
#include <vector>

#include "workload-gen/job/training_job.h"

namespace drydock {

struct LayerSplit {
  std::vector<int> layers;  // of each virtual stage; empty if they cannot be split so
  // What is in the way: the key of section `parallel`, and why.
  std::string key;
  std::string reason;
};

LayerSplit SplitLayers(int layers, const ParallelRules& parallel);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYER_SPLIT_H_
