// The submodules of a layer's MLP on one rank: a dense one, or experts with their router and what
// moves tokens to them.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_MLP_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_MLP_WORK_H_

#include <optional>
#include <string>

#include "workload-gen/work/submodule_maker.h"
#include "workload-gen/work/token_routing.h"

namespace drydock {

struct MlpWork {
  LinearWork fc1, fc2;
  TwoWayWork activation;
};

struct SharedExpertWork {
  MlpWork mlp;
  std::optional<LinearWork> gate;
  uint32_t add_output = 0;    // to the routed experts'
  uint32_t add_gradient = 0;  // of the input
};

struct ExpertWork {
  TwoWayWork router, top_k, permute, unpermute;
  // The copies that come to a rank are put in the order of its experts, and back.
  std::optional<TwoWayWork> sort, unsort;
  LinearWork fc1, fc2;
  TwoWayWork activation;
  int repeat = 1;  // without a grouped product: the local experts, one after another
  std::optional<SharedExpertWork> shared;
  TokenRouting routing;
  // Calls that take tokens and probabilities to the experts and back (all-to-all, flex); none
  // where there is nobody to exchange with.
  std::optional<uint32_t> tokens_out, tokens_back, probabilities_out, probabilities_back;
};

// `prefix`: of the submodules' names. `beside`: it runs beside other work, without Transformer
// Engine's overlap.
MlpWork MakeMlp(SubmoduleMaker* maker, const std::string& prefix, int64_t ffn, InputFrom from,
                bool beside = false);
// `gpus`: of a host.
ExpertWork MakeExperts(SubmoduleMaker* maker, ExpertLoad load, int gpus, WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_MLP_WORK_H_
