// The submodules of a transformer on one rank: shapes, FLOPs, bytes. They are made once per
// workload and kind of rank; program writers use the table indices. submodule_maker.h defines rows.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_LAYER_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_LAYER_WORK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/work/attention_work.h"
#include "workload-gen/work/mlp_work.h"
#include "workload-gen/work/scan_work.h"
#include "workload-gen/work/submodule_maker.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

struct LayerWork {
  // At most one of the two has a value.
  std::optional<AttentionWork> attention;
  std::optional<ScanWork> scan;
  // At most one of the two has a value. Without either, the layer has none of the other members.
  std::optional<MlpWork> mlp;
  std::optional<ExpertWork> experts;
  std::optional<ForwardBackwardWork> norm2;
  std::optional<ForwardBackwardWork> post_norm2;
  ForwardBackwardWork residual2;
  uint32_t residual_gradient = 0;  // sum of the branch's and the residual's gradients
  bool residual_backward = false;  // dropout or bias: the gradient of the branch needs a kernel
  bool half = false;               // its linear layers stay in 16 bits in an fp8 or NVFP4 job
  LayerRegion scan_region = LayerRegion::kMamba;  // where CUDA graphs count the scan

  bool has_mlp() const { return mlp || experts; }
};

struct EmbeddingWork {
  ForwardBackwardWork lookup;
  std::optional<LinearWork> patches;  // of images, instead of the lookup
  std::optional<ForwardBackwardWork> positions;
  std::optional<ForwardBackwardWork> dropout;
};

struct HeadWork {
  ForwardBackwardWork norm;
  LinearWork logits;
  ForwardBackwardWork loss;
};

// Of an MTP layer, before and after its transformer layer.
struct MtpWork {
  ForwardBackwardWork token_norm, hidden_norm, final_norm;
  LinearWork join;  // of tokens and hidden rows, from twice the width
};

// Copies of what a CUDA graph of a layer, or of a part of one, reads into the graph's own buffers
// (make_graphed_callables of Transformer Engine, cuda_graphs.py of Megatron-Core).
struct GraphCopyWork {
  uint32_t forward = 0;   // the rows that enter
  uint32_t backward = 0;  // the gradient of the rows that leave
  uint32_t router_backward =
      0;  // the gradients of what a graph that ends before the dispatch hands on
};

struct RankWork {
  std::vector<LayerWork> kinds;        // of layers
  std::vector<uint8_t> kind_of_layer;  // index into kinds; MTP layers last
  EmbeddingWork embedding;
  HeadWork head;
  std::optional<MtpWork> mtp;
  GraphCopyWork graph_copies;   // unless training.cuda_graphs has none or whole passes
  int64_t rows = 0;             // t: tokens of a micro-batch on this rank
  int64_t offloaded_layer = 0;  // bytes that each layer of training.offload_layers offloads
  int64_t local_rows = 0;       // t, or t / tensor under sequence parallelism

  const LayerWork& LayerOf(int layer) const {
    return kinds[kind_of_layer[static_cast<size_t>(layer)]];
  }
};

// `load`: of the rank's experts. `gpus`: the number of GPUs of a host.
RankWork MakeRankWork(const TrainingJob& job, const ParallelLayout& layout, WorkTables* tables,
                      ExpertLoad load = ExpertLoad::kMean, int gpus = 8);

// Returns the number of linear layers in a transformer layer that run in fp8 in an fp8 job. The
// linear layers of each local expert count.
int Fp8LinearLayersIn(const LayerWork& layer, const ModelShape& model,
                      const ParallelLayout& layout);

// Enters element-wise work of the optimizer step or the gradient reduction in the table.
uint32_t StepWork(const char* name, const SubmoduleWork& work, DataType type, WorkTables* tables);
// The submodule in which a loop quantizes gathered weights.
inline constexpr const char* kGatheredQuantize = "gathered.quantise";
// Enters the quantization of `elements` of weights; `weights`: how many a loop quantizes, or 0 if
// the code of their modules does.
uint32_t QuantizeWork(int64_t weights, int64_t elements, DataType type, WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_LAYER_WORK_H_
