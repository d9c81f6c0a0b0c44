// Whether the GPUs of the cluster compute in the format of the job's products, 16 bits included, and
// run the kernels that exchange its tokens.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_GPU_FORMAT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_GPU_FORMAT_H_

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/schema/tokens/token_costs.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Reports, at the key that names the format, a GPU whose tensor cores do not have it, with the
// types that the GPU has; or a GPU that the job's kernels of sparse attention do not run on.
Status CheckGpuFormat(const TrainingJob& job, const Topology& topology);

// Reports, at the dispatcher, a GPU for which `costs` has no rates of the library that exchanges
// the tokens.
Status CheckTokenKernels(const TrainingJob& job, const Topology& topology,
                         const TokenCostTable& costs);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_GPU_FORMAT_H_
