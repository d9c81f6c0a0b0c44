// A transformer as the sequence of modules that PyTorch runs (Llama of torchtitan and Hugging
// Face). Query, key and value are separate linear layers, and so are the two halves of a gated MLP.
// Each module has its parameters, its forward and backward kernels, and its tensor-parallel
// communication. A workload has one TorchModel, whose indices refer to the tables.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_

#include <cstdint>
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

struct TorchModule {
  std::string name;                 // "attention.wq"
  std::vector<int64_t> parameters;  // elements of each parameter on this rank
  std::vector<uint32_t> forward, backward;
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
  bool tied = false;                       // shares the embedding's weight
  // True if torchtitan's selective checkpointing repeats it: all modules except attention and every
  // second GEMM.
  bool selectively_recomputed = false;

  int64_t elements() const;  // without experts
  int64_t expert_elements() const;
};

// Modules that FSDP2 shards as one group.
struct TorchGroup {
  std::vector<TorchModule> modules;
  int64_t elements() const;
  int64_t expert_elements() const;
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
