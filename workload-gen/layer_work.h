// The submodules of a transformer on one rank: shapes, FLOPs, bytes. Made once per workload; the
// program writers use the table indices. Rows: t = sequence x micro_batch tokens; where sequence
// parallelism splits them, t / tensor.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYER_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_LAYER_WORK_H_

#include <cstdint>
#include <optional>

#include "workload-gen/layout.h"
#include "workload-gen/training_job.h"
#include "workload-gen/work_tables.h"

namespace drydock {

// A linear layer's three products.
struct LinearWork {
  uint32_t forward = 0;
  uint32_t activation_gradient = 0;
  uint32_t weight_gradient = 0;
  std::optional<uint32_t> accumulate;  // adds the gradient to the main one, where not fused
};

struct TwoWayWork {
  uint32_t forward = 0;
  uint32_t backward = 0;
};

struct LayerWork {
  TwoWayWork norm1, attention, rotary, residual1, norm2, activation, residual2;
  LinearWork qkv, proj, fc1, fc2;
  uint32_t residual_gradient = 0;  // sum of the branch's and the residual's gradients
  bool has_rotary = false;
  bool residual_backward = false;  // dropout or bias: the branch's gradient takes a kernel
};

struct EmbeddingWork {
  TwoWayWork lookup;
  std::optional<TwoWayWork> positions;
  std::optional<TwoWayWork> dropout;
};

struct HeadWork {
  TwoWayWork norm;
  LinearWork logits;
  TwoWayWork loss;
};

struct RankWork {
  LayerWork layer;
  EmbeddingWork embedding;
  HeadWork head;
  int64_t rows = 0;        // t
  int64_t local_rows = 0;  // t, or t / tensor under sequence parallelism
};

RankWork MakeRankWork(const TrainingJob& job, const Layout& layout, WorkTables* tables);

// Element-wise work of the optimizer step and the gradient reduction.
uint32_t ElementWork(const char* name, SubmoduleKind kind, DataType type, int64_t elements,
                     WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYER_WORK_H_
