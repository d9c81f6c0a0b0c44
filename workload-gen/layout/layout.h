// A job's parallel layout on a given cluster: sizes that are known to fit together, and the order
// of ranks. Plain data; immutable.
//
// Ranks are counted through two grids with the same stages (Megatron's parallel_state.py): the
// dense one of tensor x context x data, and the one of the layers of experts, expert_tensor x
// expert x expert_data.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

struct ParallelLayout {
  int tensor = 1;
  int context = 1;
  int data = 1;
  int pipeline = 1;
  int expert = 1;
  int expert_tensor = 1;
  int chunks = 1;  // virtual stages a rank
  bool sequence_parallel = false;
  RankOrder order = RankOrder::kTensorContextExpertDataPipeline;
  int microbatches = 1;          // a step and rank
  int microbatch_group = 1;      // that pass through one chunk before the next chunk's turn
  std::vector<int> first_layer;  // of each virtual stage, and the number of layers behind them
  int norm_stage = 0;            // virtual stage of the final norm
  // Of each virtual stage the first layer that predicts further tokens, and their number behind.
  std::vector<int> first_further;
  int64_t padded_vocab = 0;

  int world() const { return tensor * context * data * pipeline; }
  int virtual_stages() const { return pipeline * chunks; }
  // Ranks that hold the same weights of dense layers: their gradients are summed.
  int gradient_ranks() const { return context * data; }
  int expert_data() const { return world() / (expert_tensor * expert * pipeline); }

  // The rank at these coordinates, tensor fastest.
  int RankOf(int tp, int dp, int pp, int cp = 0) const {
    const int outer =
        order == RankOrder::kTensorContextExpertDataPipeline ? dp + data * pp : pp + pipeline * dp;
    return tp + tensor * (cp + context * outer);
  }
  int StageOf(int rank) const {
    return order == RankOrder::kTensorContextExpertDataPipeline
               ? rank / (tensor * context * data)
               : rank / (tensor * context) % pipeline;
  }
  // Which part of the experts a rank has.
  int ExpertRankOf(int rank) const { return rank / expert_tensor % expert; }

  // The layers of a rank's chunk: virtual stage v = chunk * pipeline + stage.
  int FirstLayer(int stage, int chunk) const { return first_layer[VirtualStage(stage, chunk)]; }
  int EndLayer(int stage, int chunk) const { return first_layer[VirtualStage(stage, chunk) + 1]; }
  bool HasFinalNorm(int stage, int chunk) const {
    return VirtualStage(stage, chunk) == static_cast<size_t>(norm_stage);
  }
  // Layers that predict further tokens, of a rank's chunk and on all virtual stages up to one.
  int FirstFurther(int stage, int chunk) const { return FurtherBefore(VirtualStage(stage, chunk)); }
  int EndFurther(int stage, int chunk) const {
    return FurtherBefore(VirtualStage(stage, chunk) + 1);
  }
  int FurtherUpTo(int virtual_stage) const {
    return FurtherBefore(static_cast<size_t>(virtual_stage) + 1);
  }
  bool HasFurther(int stage, int chunk) const {
    return EndFurther(stage, chunk) > FirstFurther(stage, chunk);
  }
  // "TP8 PP8 (3 virtual) DP1, sequence parallel, 64 micro-batches"
  std::string ToString() const;

 private:
  // None where no model said so.
  int FurtherBefore(size_t virtual_stage) const {
    return first_further.empty() ? 0 : first_further[virtual_stage];
  }
  size_t VirtualStage(int stage, int chunk) const {
    return static_cast<size_t>(chunk * pipeline + stage);
  }
};

// Everything that keeps the job off this cluster, each at its line of model.yaml.
Result<ParallelLayout> ResolveLayout(const TrainingJob& job, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYOUT_H_
