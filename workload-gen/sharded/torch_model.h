// A transformer as the sequence of modules that PyTorch runs (Llama of torchtitan and Hugging
// Face). Query, key and value are separate linear layers, and so are the two halves of a gated MLP.
// Each module has its parameters, its forward and backward kernels, and its tensor-parallel
// communication. A workload has one TorchModel, whose indices refer to the tables.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload-gen/work/layer_work.h"

namespace drydock {

// The tensor-parallel communication of a micro-batch's activations. Backward does the reverse.
enum class Redistribution : uint8_t {
  kNone,
  kGather,   // all-gather of rows; in backward, reduce-scatter of their gradients
  kScatter,  // reduce-scatter of partial sums by rows; in backward, all-gather of gradients
  kSum,      // all-reduce of partial sums; nothing in backward
  kCopy      // nothing; in backward, all-reduce of gradients
};

// A cast to fp8 with the scale of a tensor of which the tensor ranks hold parts: they reduce its
// largest value.
struct ScaledCast {
  std::optional<uint32_t> scale;  // reads the tensor for its largest value
  std::optional<uint32_t> cast;
  bool reduced = false;
};

// The parts of a product with which communication overlaps (async_tensor): as many as tensor ranks.
struct AsyncParts {
  std::optional<uint32_t> forward;   // of rows / tensor
  std::optional<uint32_t> gradient;  // the same of the input gradient
  std::optional<uint32_t> sum;       // adds the parts that other ranks sent in the forward pass
};

struct TorchModule {
  std::string name;                 // "attention.wq"
  std::vector<int64_t> parameters;  // elements of each parameter on this rank
  std::vector<uint32_t> forward, backward;
  std::optional<uint32_t> input_gradient;  // the product among `backward`
  // In fp8: the input before it is gathered; the weight; the output gradient before it is gathered.
  ScaledCast input_cast, weight_cast, gradient_cast;
  // The types in which `before` gathers rows and the backward of `after` gathers their gradients.
  DataType gathered = DataType::kBf16, gradient_gathered = DataType::kBf16;
  AsyncParts async;
  int sharing = 1;  // modules that use the rows that `before` gathers: this and the next
  Redistribution before = Redistribution::kNone;
  Redistribution after = Redistribution::kNone;
  std::vector<CommCall> calls;  // over tensor parallelism, after the forward
  // True if tensor ranks hold replicas and see different rows, so that gradients are partial sums.
  bool partial_gradient = false;
  // Attention whose keys other ranks hold: its steps replace `forward` and `backward`.
  const CoreWork* core = nullptr;
  // Router and experts with token dispatch and combine: they replace `forward` and `backward`.
  const ExpertWork* experts = nullptr;
  std::vector<int64_t> expert_parameters;  // of the local experts, sharded over fewer ranks
  bool gemm = false;                       // runs one or more GEMMs
  bool fp8 = false;                        // in fp8
  bool tied = false;                       // shares the embedding's weight
  bool behind = false;                     // a function of the model's result: the loss
  // True if torchtitan's selective checkpointing repeats it: all modules except attention and every
  // second GEMM.
  bool selectively_recomputed = false;

  int64_t elements() const;  // without experts
  int64_t expert_elements() const;
};

// Modules that FSDP2 shards as one group.
struct TorchGroup {
  std::vector<TorchModule> modules;
  // The modules, from the first, that full recomputation of a layer repeats. Backward needs the
  // input of the last product, not its result: torch.compile removes what nothing uses. In eager
  // mode torchtitan repeats all (early_stop=False of activation_checkpoint.py).
  size_t CountRepeated(const TrainingJob& job) const;
  // The modules at the end that no hook of the group is around.
  size_t CountBehind() const;
  int64_t elements() const;
  int64_t expert_elements() const;
  // Of linear layers in fp8: the elements of their weights, and their number.
  int64_t fp8_elements() const;
  int64_t fp8_weights() const;
};

struct TorchModel {
  TorchGroup embedding;                // tok_embeddings
  std::vector<TorchGroup> blocks;      // one per kind of layer
  std::vector<uint8_t> kind_of_layer;  // index into blocks
  TorchGroup head;                     // norm and output
};

// REQUIRES: `work` outlives the model, which refers to its attention and experts.
TorchModel MakeTorchModel(const TrainingJob& job, const ParallelLayout& layout,
                          const RankWork& work, WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_
