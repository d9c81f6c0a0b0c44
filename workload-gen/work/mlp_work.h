// The submodules of a layer's MLP on one rank: a dense MLP, or experts with their router, token
// dispatch and token combine.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_MLP_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_MLP_WORK_H_

#include <optional>
#include <string>
#include <vector>

#include "workload-gen/routing/token_routing.h"
#include "workload-gen/work/submodule_maker.h"

namespace drydock {

struct MlpWork {
  LinearWork fc1, fc2;
  ForwardBackwardWork activation;
};

struct SharedExpertWork {
  MlpWork mlp;
  std::optional<LinearWork> gate;
  uint32_t add_output = 0;    // to the output of the routed experts
  uint32_t add_gradient = 0;  // of the input
};

// Into and out of the latent width of experts; whole on each tensor rank, of its own rows.
struct LatentExpertWork {
  LinearWork down, up;
};

// The bias of the experts' second linear layer, which PyTorch's operators weight and add for each
// local expert (_apply_bias of TEGroupedMLP).
struct ExpertBiasWork {
  int experts = 0;             // each of which runs the next three, and `narrow`
  ForwardBackwardWork weight;  // the bias times the probability of each token
  uint32_t add = 0;            // forward
  uint32_t sum = 0;            // backward: sums of the gradient over rows or columns
  ForwardBackwardWork join;    // the outputs of all experts; backward, their gradients
  // With probabilities in fp32: casts of the whole, and of an expert's gradient to 16 bits.
  std::optional<ForwardBackwardWork> cast;
  uint32_t narrow = 0;
};

struct ExpertWork {
  ForwardBackwardWork router, top_k, permute, unpermute;
  // `sort` orders the copies that arrive at a rank by expert; `unsort` reverses that order.
  std::optional<ForwardBackwardWork> sort, unsort;
  LinearWork fc1, fc2;
  std::vector<uint32_t> clamp;  // before the activation; backward is part of it
  ForwardBackwardWork activation;
  bool fused = false;  // fc1 and fc2 run the activation
  int repeat = 1;      // without grouped GEMMs: the number of local experts, which run one by one
  std::optional<SharedExpertWork> shared;
  std::optional<LatentExpertWork> latent;
  std::optional<ExpertBiasWork> bias;
  std::optional<ForwardBackwardWork> pad, unpad;  // the rows of each expert, for products in fp8
  std::optional<uint32_t> scan;                   // of the map of picks, by HybridEP
  // Copies what HybridEP sends to other hosts into its buffer: tokens, or their gradients.
  std::optional<uint32_t> stage_tokens, stage_gradients;
  TokenRouting routing;
  // The calls of token dispatch and combine, for tokens, their gradients, and probabilities
  // (all-to-all, flex). Without a value if there is no other rank.
  std::optional<uint32_t> tokens_out, tokens_back, gradients_out, gradients_back;
  std::optional<uint32_t> probabilities_out, probabilities_back;
};

// `prefix`: of the submodules' names. `beside`: the MLP runs beside other work, without Transformer
// Engine's overlap.
MlpWork MakeMlp(SubmoduleMaker* maker, const std::string& prefix, int64_t ffn, InputFrom from,
                bool beside = false);
// `gpus`: the number of GPUs of a host.
ExpertWork MakeExperts(SubmoduleMaker* maker, ExpertLoad load, int gpus, WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_MLP_WORK_H_
