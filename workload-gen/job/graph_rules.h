// Which CUDA graphs (training.cuda_graphs) go with which other keys: the rules of Megatron-Core's
// transformer_config.py and of Megatron-LM's arguments.py.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_

#include "core/base/result.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Reports each rule that the job breaks, at training.cuda_graphs. REQUIRES: each section is valid
// by itself.
void CheckGraphs(const TrainingJob& job, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_GRAPH_RULES_H_
