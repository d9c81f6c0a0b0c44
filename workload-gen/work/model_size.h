// The parameters of a model, and the FLOPs of one iteration by the convention of model FLOPs
// utilization. Pure functions, in closed form.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_MODEL_SIZE_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_MODEL_SIZE_H_

#include <cstdint>

#include "workload-gen/job/training_job.h"

namespace drydock {

// Of the whole model, vocabulary unpadded. MTP layers count; they share
// embedding and head.
int64_t ParameterCount(const ModelShape& model);
// Parameters that one token uses: of the routed experts, experts_per_token.
int64_t ActiveParameterCount(const ModelShape& model);

// The matrix products of one layer, in multiply-adds a token.
struct LayerProducts {
  double projections = 0;     // into and out of attention
  double up_projections = 0;  // of them, those out of the latent width
  double core = 0;            // scores, and their product with the values
  double mlp = 0;             // of a dense layer; else 0
  double experts = 0;         // router, routed and shared experts
  double shared_experts = 0;  // of them
  double sum() const { return projections + core + mlp + experts; }
};
LayerProducts ProductsOfLayer(const ModelShape& model, int layer, bool causal_halved);

struct IterationFlops {
  double model = 0;     // forward and backward once: 3 x the forward's matrix products
  double hardware = 0;  // with recomputation
};
// FLOPs over all GPUs. Matrix products only (Narayanan et al., SC'21, appendix; Korthikanti et al.
// 2022, appendix A): linear layers, attention scores and their product with the values, logits.
// With training.causal_flops half, causal attention counts the keys that a query sees on average.
IterationFlops FlopsOfIteration(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_MODEL_SIZE_H_
