// A transformer as the modules that PyTorch runs one by one (torchtitan's Llama, Hugging Face's):
// query, key and value, and the two halves of a gated MLP, are linear layers of their own. Each
// module has its parameters, its kernels both ways, and what tensor parallelism moves around it.
// Made once per workload; indices are those of the tables.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "workload-gen/work/layer_work.h"

namespace drydock {

// What happens to a micro-batch's activations over tensor parallelism. Backward does the reverse.
enum class Redistribution : uint8_t {
  kNone,
  kGather,   // rows come together; backward, their gradients are summed and split
  kScatter,  // partial sums are summed and split by rows; backward, gradients come together
  kSum,      // partial sums are summed; backward, nothing
  kCopy      // nothing; backward, gradients are summed
};

struct TorchModule {
  std::string name;                 // "attention.wq"
  std::vector<int64_t> parameters;  // elements of each, on this rank
  std::vector<uint32_t> forward, backward;
  Redistribution before = Redistribution::kNone;
  Redistribution after = Redistribution::kNone;
  std::vector<CommCall> calls;  // over tensor parallelism, after the forward
  // Replicated over tensor ranks that see their own rows: its gradients are in parts.
  bool partial_gradient = false;
  // Attention of which other ranks hold keys: its pieces, in place of `forward` and `backward`.
  const CoreWork* core = nullptr;
  // A layer's router and experts with the tokens' way to them, in place of both.
  const ExpertWork* experts = nullptr;
  std::vector<int64_t> expert_parameters;  // of the local experts, which fewer ranks share
  bool product = false;                    // a matrix product, or several
  bool tied = false;                       // its weight is the embedding's
  // torchtitan's selective checkpointing runs it once more: all but attention and every second
  // matrix product.
  bool selectively_recomputed = false;

  int64_t elements() const;  // without experts
  int64_t expert_elements() const;
};

// What FSDP2 shards together.
struct TorchGroup {
  std::vector<TorchModule> modules;
  int64_t elements() const;
  int64_t expert_elements() const;
};

struct TorchModel {
  TorchGroup embedding;                // tok_embeddings
  std::vector<TorchGroup> blocks;      // kinds of layers
  std::vector<uint8_t> kind_of_layer;  // index into blocks
  TorchGroup head;                     // norm and output
};

// `work` outlives the model: attention and experts are taken from there.
TorchModel MakeTorchModel(const TrainingJob& job, const ParallelLayout& layout,
                          const RankWork& work, WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_MODEL_H_
