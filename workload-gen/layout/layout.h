// The parallel layout of a job on a cluster: degrees that fit together, and the order of ranks.
// Plain data; immutable.
//
// Two grids number the same ranks (parallel_state.py in Megatron-LM): the dense grid of tensor x
// context x data x pipeline, and the grid of layers with experts, expert_tensor x expert x
// expert_data x pipeline.
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
  int context_heads = 1;  // of them, ranks that exchange heads beside a ring (context_type a2a+p2p)
  int data = 1;
  int pipeline = 1;
  int expert = 1;
  int expert_tensor = 1;
  int chunks = 1;     // virtual stages of a rank
  int instances = 1;  // of the distributed optimizer, among the ranks that hold the same weights
  bool sequence_parallel = false;
  RankOrder order = RankOrder::kTensorContextExpertDataPipeline;
  int microbatches = 1;          // per step and rank
  int microbatch_group = 1;      // micro-batches that pass one chunk before the next chunk's turn
  std::vector<int> first_layer;  // of each virtual stage, then the number of layers
  int norm_stage = 0;            // virtual stage of the final norm
  // The first MTP layer (multi-token prediction) of each virtual stage, then the number of them.
  std::vector<int> first_mtp_layer;
  int64_t padded_vocab = 0;

  int world() const { return tensor * context * data * pipeline; }
  int virtual_stages() const { return pipeline * chunks; }
  // Context-parallel ranks among which keys and values travel.
  int context_ring() const { return context / context_heads; }
  // Ranks that hold the same weights of dense layers and sum their gradients.
  int gradient_ranks() const { return context * data; }
  int expert_data() const { return world() / (expert_tensor * expert * pipeline); }
  // Those of them that split the optimizer's states.
  int shard_ranks() const { return gradient_ranks() / instances; }
  int expert_shard_ranks() const { return expert_data() / instances; }

  // Returns the rank at these coordinates; tensor is the fastest dimension.
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
  // Returns which part of the experts a rank holds.
  int ExpertRankOf(int rank) const { return rank / expert_tensor % expert; }

  // The layers of a rank's chunk: virtual stage v = chunk * pipeline + stage.
  int FirstLayer(int stage, int chunk) const { return first_layer[VirtualStage(stage, chunk)]; }
  int EndLayer(int stage, int chunk) const { return first_layer[VirtualStage(stage, chunk) + 1]; }
  bool HasFinalNorm(int stage, int chunk) const {
    return VirtualStage(stage, chunk) == static_cast<size_t>(norm_stage);
  }
  // MTP layers of a rank's chunk, and those of all virtual stages up to one.
  int FirstMtpLayer(int stage, int chunk) const {
    return MtpLayersBefore(VirtualStage(stage, chunk));
  }
  int EndMtpLayer(int stage, int chunk) const {
    return MtpLayersBefore(VirtualStage(stage, chunk) + 1);
  }
  int MtpLayersUpTo(int virtual_stage) const {
    return MtpLayersBefore(static_cast<size_t>(virtual_stage) + 1);
  }
  bool HasMtpLayers(int stage, int chunk) const {
    return EndMtpLayer(stage, chunk) > FirstMtpLayer(stage, chunk);
  }
  // "TP8 PP8 (3 virtual) DP1, sequence parallel, 64 micro-batches"
  std::string ToString() const;

 private:
  // 0 if the model has no MTP layers.
  int MtpLayersBefore(size_t virtual_stage) const {
    return first_mtp_layer.empty() ? 0 : first_mtp_layer[virtual_stage];
  }
  size_t VirtualStage(int stage, int chunk) const {
    return static_cast<size_t>(chunk * pipeline + stage);
  }
};

// Returns the layout, or all reasons why the job does not fit the cluster, each at its line of
// model.yaml.
Result<ParallelLayout> ResolveLayout(const TrainingJob& job, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_LAYOUT_H_
