// The submodules of a low-rank adapter (LoRA, Hu et al. 2021) beside a frozen linear layer:
// dropout, two narrow products, a scaling, and the sum with the layer's output. As
// ParallelLinearAdapter of Megatron-Bridge and NeMo: products in the training precision, without
// Transformer Engine.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_ADAPTER_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_ADAPTER_WORK_H_

#include <memory>
#include <optional>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {

struct AdapterWork {
  std::optional<ForwardBackwardWork> dropout;
  LinearWork in, out;
  ForwardBackwardWork scale, sum;
  int64_t width = 0;   // of the layer's input on this rank
  uint32_t split = 0;  // backward: adds the gradient of this rank's rows of the input
};

// The two kinds of layers that tensor parallelism splits.
enum class LinearSplit : uint8_t { kColumns, kRows };

// Gives `linear` an adapter if its model has adapters at `target`: rows x n x k on this rank.
struct AdapterShape {
  LinearSplit split = LinearSplit::kColumns;
  int64_t rows = 0, n = 0, k = 0;
};
std::shared_ptr<const AdapterWork> MakeAdapter(SubmoduleMaker* maker, const std::string& name,
                                               const AdapterShape& shape);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_ADAPTER_WORK_H_
