// A job's parallel layout on a given cluster: sizes that are known to fit together, and the order
// of ranks. Plain data; immutable.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_H_

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "workload-gen/training_job.h"

namespace drydock {

struct Layout {
  int tensor = 1;
  int data = 1;
  int pipeline = 1;
  int chunks = 1;  // virtual stages a rank
  bool sequence_parallel = false;
  RankOrder order = RankOrder::kTensorContextExpertDataPipeline;
  int microbatches = 1;      // a step and rank
  int layers_per_chunk = 1;  // of one virtual stage
  int64_t padded_vocab = 0;

  int world() const { return tensor * data * pipeline; }
  int virtual_stages() const { return pipeline * chunks; }
  // The rank at these coordinates, tensor fastest.
  int RankOf(int tp, int dp, int pp) const {
    return order == RankOrder::kTensorContextExpertDataPipeline
               ? tp + tensor * (dp + data * pp)
               : tp + tensor * (pp + pipeline * dp);
  }
  int StageOf(int rank) const {
    return order == RankOrder::kTensorContextExpertDataPipeline ? rank / (tensor * data)
                                                                : rank / tensor % pipeline;
  }
  // First global layer of a rank's chunk: virtual stage v = chunk * pipeline + stage.
  int FirstLayer(int stage, int chunk) const {
    return (chunk * pipeline + stage) * layers_per_chunk;
  }
  // "TP8 PP8 (3 virtual) DP1, sequence parallel, 64 micro-batches"
  std::string ToString() const;
};

// Everything that keeps the job off this cluster, each at its line of model.yaml.
Result<Layout> ResolveLayout(const TrainingJob& job, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_H_
