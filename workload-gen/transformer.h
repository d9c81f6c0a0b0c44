// What a model's shape amounts to: parameters, and the FLOPs of one iteration by the convention
// model FLOPs utilisation is stated in. Pure functions.
#ifndef DRYDOCK_WORKLOAD_GEN_TRANSFORMER_H_
#define DRYDOCK_WORKLOAD_GEN_TRANSFORMER_H_

#include <cstdint>
#include <vector>

#include "workload-gen/layout.h"
#include "workload-gen/training_job.h"

namespace drydock {

// Of the whole model, vocabulary unpadded.
int64_t ParameterCount(const ModelShape& model);

struct IterationFlops {
  double model = 0;     // forward and backward once: 3 x the forward's matrix products
  double hardware = 0;  // what recomputation repeats added
};
// Over all GPUs. Matrix products only (Narayanan et al., SC'21, appendix; Korthikanti et al. 2022,
// appendix A): linear layers, attention scores and their product with the values, logits.
IterationFlops FlopsOfIteration(const TrainingJob& job);

// ---- One rank's parameters ------------------------------------------------------------------

enum class ParameterKind : uint8_t {
  kWordEmbedding,
  kPositionEmbedding,
  kProjWeight,
  kProjBias,
  kNorm1Weight,
  kNorm1Bias,
  kQkvWeight,
  kQkvBias,
  kNorm2Weight,
  kNorm2Bias,
  kFc1Weight,
  kFc1Bias,
  kFc2Weight,
  kFc2Bias,
  kFinalNormWeight,
  kFinalNormBias,
  kHead
};

struct Parameter {
  ParameterKind kind = ParameterKind::kHead;
  int layer = -1;                  // global; -1 outside layers
  int64_t elements = 0;            // on this rank
  bool tied = false;               // the word embedding that two stages share
  bool sequence_parallel = false;  // replicated over tp, its gradient from this rank's rows only
};

// Of one chunk of a stage, in registration order.
std::vector<Parameter> ChunkParameters(const ModelShape& model, const Layout& layout, int stage,
                                       int chunk);
int64_t TotalElements(const std::vector<Parameter>& parameters);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TRANSFORMER_H_
