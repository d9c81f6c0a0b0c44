// The parameters that one rank holds, in the order in which Megatron registers them. Pure
// functions. model_size.h counts those of the whole model.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_TRANSFORMER_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_TRANSFORMER_H_

#include <cstdint>
#include <vector>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

enum class ParameterKind : uint8_t {
  kWordEmbedding,
  kPositionEmbedding,
  kPatches,  // an image's linear layer with its bias, and the class token
  kProjWeight,
  kProjBias,
  kNorm1Weight,
  kNorm1Bias,
  kQkvWeight,
  kQkvBias,
  kQNorm,  // of queries and keys, or of the latent vectors of latent attention; with the bias
  kKNorm,
  kQDownWeight,
  kQUpWeight,
  kKvDownWeight,
  kKvNorm,
  kKvUpWeight,
  kIndexQWeight,  // of the indexer of sparse attention
  kIndexKWeight,
  kIndexKNorm,
  kIndexHeadWeight,
  kSinks,
  kScan,  // of Mamba-2 or a gated delta net: the convolution and the numbers of each head
  kScanInWeight,
  kScanNorm,
  kScanOutWeight,
  kPostNorm1,
  kNorm2Weight,
  kNorm2Bias,
  kFc1Weight,
  kFc1Bias,
  kFc2Weight,
  kFc2Bias,
  kRouterWeight,
  kRouterBias,  // that adds to the scores
  kLatentDown,  // into and out of the latent width of experts
  kLatentUp,
  kExpertFc1Weight,  // one for each local expert; likewise the next three
  kExpertFc1Bias,
  kExpertFc2Weight,
  kExpertFc2Bias,
  kSharedGate,
  kSharedFc1Weight,
  kSharedFc2Weight,
  kPostNorm2,
  kProjAdapter,  // of each adapter, both matrices
  kQkvAdapter,
  kFc1Adapter,
  kFc2Adapter,
  kMtpTokenNorm,  // of an MTP layer
  kMtpHiddenNorm,
  kMtpJoin,
  kMtpFinalNorm,
  kFinalNormWeight,
  kFinalNormBias,
  kHead
};

struct Parameter {
  ParameterKind kind = ParameterKind::kHead;
  int layer = -1;                  // global; -1 outside layers
  int64_t elements = 0;            // on this rank
  bool tied = false;               // the word embedding that two stages share
  bool sequence_parallel = false;  // replicated over tp, with a gradient of this rank's rows only
  bool expert = false;             // shared by the ranks of edp, not of dp: of an expert, if EP > 1
  bool frozen = false;             // without gradient: the model has adapters
};

// The parameters of one chunk of a stage, in registration order: that of Transformer Engine's
// modules, or of Megatron-Core's own with unfused kernels.
std::vector<Parameter> ChunkParameters(const TrainingJob& job, const ParallelLayout& layout,
                                       int stage, int chunk);
int64_t TotalElements(const std::vector<Parameter>& parameters);
// True for the matrices inside layers that Muon updates.
bool IsMuonMatrix(ParameterKind kind);
// True for the weights of linear layers inside the transformer layers.
bool IsLayerWeight(ParameterKind kind);
// True for those of them that are quantized for their products.
bool IsQuantizedWeight(const TrainingJob& job, const Parameter& parameter);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_TRANSFORMER_H_
