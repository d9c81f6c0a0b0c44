// The submodules of a transformer on one rank: shapes, FLOPs, bytes. Made once per workload and
// kind of rank; the program writers use the table indices. Rows: submodule_maker.h.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_LAYER_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_LAYER_WORK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/work/attention_work.h"
#include "workload-gen/work/mlp_work.h"
#include "workload-gen/work/submodule_maker.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

struct LayerWork {
  AttentionWork attention;
  TwoWayWork norm2;
  // One of the two.
  std::optional<MlpWork> mlp;
  std::optional<ExpertWork> experts;
  std::optional<TwoWayWork> post_norm2;
  TwoWayWork residual2;
  uint32_t residual_gradient = 0;  // sum of the branch's and the residual's gradients
  bool residual_backward = false;  // dropout or bias: the branch's gradient takes a kernel
};

struct EmbeddingWork {
  TwoWayWork lookup;
  std::optional<LinearWork> patches;  // of images, in place of the lookup
  std::optional<TwoWayWork> positions;
  std::optional<TwoWayWork> dropout;
};

struct HeadWork {
  TwoWayWork norm;
  LinearWork logits;
  TwoWayWork loss;
};

// Of an MTP layer, before and after its transformer layer.
struct MtpWork {
  TwoWayWork token_norm, hidden_norm, final_norm;
  LinearWork join;  // of both, from twice the width
};

struct RankWork {
  std::vector<LayerWork> kinds;        // of layers
  std::vector<uint8_t> kind_of_layer;  // index into kinds; MTP layers last
  EmbeddingWork embedding;
  HeadWork head;
  std::optional<MtpWork> mtp;
  int64_t rows = 0;        // t: tokens of a micro-batch on this rank
  int64_t local_rows = 0;  // t, or t / tensor under sequence parallelism

  const LayerWork& LayerOf(int layer) const {
    return kinds[kind_of_layer[static_cast<size_t>(layer)]];
  }
};

// `load`: of the rank's experts. `gpus`: of a host, where all hosts are alike.
RankWork MakeRankWork(const TrainingJob& job, const ParallelLayout& layout, WorkTables* tables,
                      ExpertLoad load = ExpertLoad::kMean, int gpus = 8);

// Linear layers of a layer that run in fp8 where the job does, each local expert's counted.
int ProductsIn(const LayerWork& layer, const ModelShape& model, const ParallelLayout& layout);

// Element-wise work of the optimizer step and the gradient reduction.
uint32_t ElementWork(const char* name, SubmoduleKind kind, DataType type, int64_t elements,
                     WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_LAYER_WORK_H_
