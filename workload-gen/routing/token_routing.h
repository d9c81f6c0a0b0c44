// The number of token copies that a layer of experts sends to each rank, and the calls that carry
// them (Megatron's token_dispatcher.py; DeepEP). The numbers are means of a router with the
// configured imbalance. Pure functions.
#ifndef DRYDOCK_WORKLOAD_GEN_ROUTING_TOKEN_ROUTING_H_
#define DRYDOCK_WORKLOAD_GEN_ROUTING_TOKEN_ROUTING_H_

#include <cstdint>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// The SMs that Megatron-LM gives the kernels (transformer_config.py, moe_deepep_num_sms and
// moe_hybridep_num_sms).
inline constexpr int kDeepEpSms = 20, kHybridEpSms = 16;

// With training.moe_imbalance above 1, the first expert-parallel rank is the busiest; the others
// share the remaining tokens.
enum class ExpertLoad : uint8_t { kMean, kBusiest, kOthers };

struct TokenRouting {
  int64_t tokens = 0;      // n: tokens of this rank
  int64_t sent = 0;        // copies that it dispatches, also to itself
  int64_t to_busiest = 0;  // the part of `sent` for the busiest rank
  int64_t to_each = 0;     // to each other rank of the ep group
  int64_t received = 0;    // copies for this rank's experts, from all expert-tensor ranks
  bool padded = false;     // every expert gets its full capacity, so ranks exchange no counts
};

TokenRouting RouteTokens(const TrainingJob& job, const ParallelLayout& layout, ExpertLoad load);

// The all-to-all of token dispatch, or of token combine if `back`, with `width` elements a copy,
// over ep.
CommCall TokenExchange(const TokenRouting& routing, const ParallelLayout& layout, DataType type,
                       int64_t width, bool back);

// The exchange of DeepEP or HybridEP over tp-ep: a token crosses the network once for each host
// that needs it, to the GPU with the sender's index on that host. That GPU forwards the token
// inside the host. `gpus`: GPUs of a host. With an imbalance, a token needs the busiest rank and
// its host more often. `back`: token combine.
CommCall LibraryExchange(const TrainingJob& job, const ParallelLayout& layout, int gpus,
                         int64_t tokens, DataType type, int64_t width, bool back);

// The exchange of DeepEP's kernels of low latency over ep: a copy for each expert of a token, with
// `width` elements, straight to the rank of the expert.
CommCall LowLatencyExchange(const TokenRouting& routing, const ParallelLayout& layout,
                            DataType type, int64_t width, bool back);

// Divides the experts into `parts` equal parts. Returns the probability that a token has an expert
// in a part that gets `load` times the mean number of picks.
double ShareInPart(int experts, int per_token, int parts, double load);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_ROUTING_TOKEN_ROUTING_H_
