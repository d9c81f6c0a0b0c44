// Which work of a rank is launched as CUDA graphs (training.cuda_graphs). Plain data.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_CUDA_GRAPHS_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_CUDA_GRAPHS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

// kParts: some parts of layers. kLayers: whole layers. kFull: a micro-batch through all layers of a
// chunk. kIteration: forward and backward of all micro-batches, and the reduction of gradients.
enum class GraphScope : uint8_t { kNone, kLayers, kFull, kIteration, kParts };

// Who captures the parts: make_graphed_callables of Transformer Engine, or Megatron-Core's own
// CudaGraphManager (cuda_graph_impl: local).
enum class GraphMaker : uint8_t { kTransformerEngine, kLocal };

// The parts of a layer that Megatron-Core captures apart (CudaGraphModule in its enums.py).
struct GraphModules {
  bool attention = false;
  bool mlp = false;             // of a dense layer
  bool moe = false;             // the whole layer of experts
  bool moe_router = false;      // router, and shared experts that do not overlap communication
  bool moe_preprocess = false;  // counts and permutation before the token dispatch
  bool mamba = false;
  bool operator==(const GraphModules&) const = default;
};

struct GraphModuleName {
  const char* name;  // "moe_router"
  bool GraphModules::*member;
};
const std::vector<GraphModuleName>& GraphModuleNames();

// Where the work of a layer belongs. Between attention and the end of the layer, a dense layer has
// kMlp alone, and a layer of experts has kRouter, kPreprocess and kExperts, in this order. The
// norm before the MLP is in the first of them.
enum class LayerRegion : uint8_t {
  kOutside,
  kAttention,
  kMlp,
  kRouter,
  kPreprocess,
  kExperts,
  kMamba
};

struct GraphRules {
  GraphScope scope = GraphScope::kNone;
  GraphModules modules;  // none unless scope is kParts

  bool any() const { return scope != GraphScope::kNone; }
  // Returns whether a graph of a layer, or of a part of a layer, holds the region.
  bool Holds(LayerRegion region) const;
  // The value of the key: "layers", "[attn, moe_router]".
  std::string Text() const;
  bool operator==(const GraphRules&) const = default;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_CUDA_GRAPHS_H_
