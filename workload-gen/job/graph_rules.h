// Which CUDA graphs (training.cuda_graphs) go with which other keys: the rules of Megatron-Core's
// transformer_config.py and of Megatron-LM's arguments.py.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_

#include "core/base/result.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Returns whether backward can repeat the norm before experts (recompute_modules: [layernorm]). It
// cannot if the norm's result leaves a graph of parts of the layer in memory that the graph owns,
// or if shared experts outside of that graph read it
// (can_recompute_pre_mlp_layernorm_for_cudagraph in Megatron-Core's transformer_layer.py).
bool MayRepeatExpertNorm(const TrainingJob& job);

// Reports each rule that the job breaks, at training.cuda_graphs. REQUIRES: each section is valid
// by itself.
void CheckGraphs(const TrainingJob& job, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_
