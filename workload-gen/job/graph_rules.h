// Which CUDA graphs (training.cuda_graphs) go with which other keys: the rules of Megatron-Core's
// transformer_config.py and of Megatron-LM's arguments.py.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_

#include "core/base/result.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// True if recompute_modules: [layernorm] repeats no norm, although it names that before experts:
// the norm's result stays in memory that a graph owns. Megatron-Core warns.
bool KeepsExpertNorm(const TrainingJob& job);
inline constexpr const char* kKeptExpertNorm =
    "recompute_modules: 'layernorm' has no effect with cuda_graphs: [moe_router]: the result of "
    "the norm before experts stays in memory that the graph owns; add moe_preprocess with "
    "moe_dispatcher: alltoall and without overlap.shared_expert, or give both parts and "
    "cuda_graph_impl: local";

// Reports each rule that the job breaks, at training.cuda_graphs. REQUIRES: each section is valid
// by itself.
void CheckGraphs(const TrainingJob& job, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_
