// For tests of steady states (exec-engine/steady): training with a pipeline schedule.
#ifndef DRYDOCK_EXEC_ENGINE_TESTING_PIPELINE_TESTING_H_
#define DRYDOCK_EXEC_ENGINE_TESTING_PIPELINE_TESTING_H_

#include <cstdint>

#include "exec-engine/testing/replay_testing.h"

namespace drydock::testing {

// Micro-batches through one to three stages by 1F1B, with all-reduces in tensor groups inside a
// host, messages between the stages, and gradient all-reduces between replicas at the end. The
// numbers of GPUs, the times, the sizes, the links and the costs of launches depend on the seed.
WorkloadBuilder Pipeline(int microbatches, uint32_t seed);

}  // namespace drydock::testing

#endif  // DRYDOCK_EXEC_ENGINE_TESTING_PIPELINE_TESTING_H_
