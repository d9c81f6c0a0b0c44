// The parameters of a model, and the FLOPs of one iteration by the convention of model FLOPs
// utilization. Pure functions, in closed form.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_MODEL_SIZE_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_MODEL_SIZE_H_

#include <cstdint>

#include "workload-gen/job/training_job.h"

namespace drydock {

// Returns the parameters of the whole model with an unpadded vocabulary. MTP layers count; they
// share embedding and head.
int64_t ParameterCount(const ModelShape& model);
// Returns the parameters that are trained: those of adapters alone, if there are adapters.
int64_t TrainedParameterCount(const ModelShape& model);
// Returns the parameters that one token uses: of the routed experts, experts_per_token count.
int64_t ActiveParameterCount(const ModelShape& model);

// The GEMMs of one layer, in multiply-adds per token.
struct LayerGemms {
  double projections = 0;     // into and out of attention or a scan
  double up_projections = 0;  // the part of `projections` out of the latent width
  double core = 0;            // scores, and the GEMM of scores and values
  double scan = 0;            // of Mamba-2 or a gated delta net
  double mlp = 0;             // of a dense layer; else 0
  double experts = 0;         // router, routed and shared experts
  double shared_experts = 0;  // the part of `experts` in shared experts
  double sum() const { return projections + core + scan + mlp + experts; }
};
LayerGemms GemmsOfLayer(const ModelShape& model, int layer, bool causal_halved);

struct IterationFlops {
  double model = 0;     // forward and backward once: 3 x the GEMMs of forward
  double hardware = 0;  // with recomputation
};
// FLOPs over all GPUs. GEMMs only (Narayanan et al., SC'21, appendix; Korthikanti et al. 2022,
// appendix A): linear layers, attention scores, scores times values, scans, logits. With
// training.causal_flops half, causal attention counts the keys that a query sees on average.
IterationFlops FlopsOfIteration(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_MODEL_SIZE_H_
