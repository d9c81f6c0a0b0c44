// The number of token copies that a layer of experts sends to each rank, and the calls that carry
// them (Megatron's token_dispatcher.py; DeepEP). The numbers are means of a router with the
// configured imbalance. Pure functions.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_TOKEN_ROUTING_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_TOKEN_ROUTING_H_

#include <cstdint>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// With training.moe_imbalance above 1, the first expert-parallel rank is the busiest; the others
// share the remaining tokens.
enum class ExpertLoad : uint8_t { kMean, kBusiest, kOthers };

struct TokenRouting {
  int64_t tokens = 0;      // n: of this rank
  int64_t sent = 0;        // copies that it dispatches, also to itself
  int64_t to_busiest = 0;  // of them, to the busiest rank
  int64_t to_each = 0;     // to each other rank of the ep group
  int64_t received = 0;    // copies for this rank's experts, all expert-tensor ranks' together
  bool padded = false;     // every expert gets its full capacity, so ranks exchange no counts
};

TokenRouting RouteTokens(const TrainingJob& job, const ParallelLayout& layout, ExpertLoad load);

// The all-to-all of token dispatch, or of token combine if `back`, with `width` elements a copy,
// over ep.
CommCall TokenExchange(const TokenRouting& routing, const ParallelLayout& layout, DataType type,
                       int64_t width, bool back);

// DeepEP's exchange over tp-ep: a token crosses the network once for each host that needs it, to
// the GPU with the sender's index on that host, which forwards it inside the host. `gpus`: GPUs of
// a host.
CommCall DeepEpExchange(const TrainingJob& job, const ParallelLayout& layout, int gpus,
                        int64_t tokens, DataType type, int64_t width);

// The mean number of `parts` equal parts of the experts that a token needs.
double PartsMet(int experts, int per_token, int parts);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_TOKEN_ROUTING_H_
