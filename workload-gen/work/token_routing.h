// How many copies of tokens a layer of experts sends where, and the calls that carry them
// (Megatron's token_dispatcher.py; DeepEP). Counts are what a router that spreads tokens as told
// gives in the mean. Pure functions.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_TOKEN_ROUTING_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_TOKEN_ROUTING_H_

#include <cstdint>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// With training.moe_imbalance above 1 the first expert-parallel rank is the busiest, and the others
// share what is left.
enum class ExpertLoad : uint8_t { kMean, kBusiest, kOthers };

struct TokenRouting {
  int64_t tokens = 0;      // n: of this rank
  int64_t sent = 0;        // copies that it gives away, those it keeps included
  int64_t to_busiest = 0;  // of them
  int64_t to_each = 0;     // to each other rank of the ep group
  int64_t received = 0;    // copies for this rank's experts, all expert-tensor ranks' together
  bool padded = false;     // every expert gets its full capacity: nobody has to ask for counts
};

TokenRouting RouteTokens(const TrainingJob& job, const ParallelLayout& layout, ExpertLoad load);

// The copies' way to the experts (`back`: the way home), `width` elements each, over ep.
CommCall TokenExchange(const TokenRouting& routing, const ParallelLayout& layout, DataType type,
                       int64_t width, bool back);

// DeepEP's over tp-ep: a token crosses the network once for each host that needs it, to the GPU of
// the sender's place there, and is handed on inside the host. `gpus`: of a host.
CommCall DeepEpExchange(const TrainingJob& job, const ParallelLayout& layout, int gpus,
                        int64_t tokens, DataType type, int64_t width);

// Of `parts` equal parts of the experts, how many a token meets on average.
double PartsMet(int experts, int per_token, int parts);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_TOKEN_ROUTING_H_
