// The layouts of a training run on a cluster, as values of keys.
#ifndef DRYDOCK_STUDY_SEARCH_LAYOUTS_H_
#define DRYDOCK_STUDY_SEARCH_LAYOUTS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "study/axes/axis.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// A value of each key that a search chooses, in the order of the keys.
struct LayoutSpace {
  std::vector<std::string> keys;  // "parallel.tensor"
  std::vector<std::vector<std::string>> layouts;
};

// The layouts of the job's framework whose degrees divide what they have to: GPUs, layers, experts,
// the global batch. The rest of what makes a layout possible is known when it is
// built.
//   Megatron-LM: tensor (inside a host), pipeline, virtual stages, embedding and loss counted as
//   layers when layers are split, messages that overlap compute (with virtual stages), context
//   (from kLongSequence tokens on), experts and their tensor parallelism, micro-batch,
//   recomputation. FSDP and DeepSpeed: tensor, context and replicas (FSDP), micro-batch,
//   recomputation.
// `kept`: keys that keep the job's value. `given`: axes of keys of the layout; their values are
// tried in place of all. Errors: a value of `given` that no layout has.
Result<LayoutSpace> LayoutsOf(const TrainingJob& job, const Topology& topology,
                              const std::vector<std::string>& kept, const std::vector<Axis>& given);

// The keys that a search chooses for some job.
bool IsLayoutKey(const std::string& key);

inline constexpr int64_t kLongSequence = 16'384;

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SEARCH_LAYOUTS_H_
