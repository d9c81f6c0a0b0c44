// The parameters that Megatron-FSDP gathers and reduces together (param_and_grad_buffer.py of
// megatron_fsdp): a unit is a transformer layer, and its experts are a bucket of their own. What
// lies outside layers is in no unit. Pure functions.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_FSDP_UNITS_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_FSDP_UNITS_H_

#include <cstdint>
#include <vector>

#include "workload-gen/stages/gradient_buckets.h"

namespace drydock {

// The buckets of a chunk in Megatron-FSDP's order, in which it looks ahead: first those outside
// units, then layer by layer.
std::vector<Bucket> MakeUnitBuckets(const std::vector<Parameter>& parameters,
                                    const TrainingJob& job, const ParallelLayout& layout);

// The buckets that are gathered at once when those of `wanted` (ascending) are needed: ahead of
// them, in forward or backward order, until the buckets ahead reach half the communication size.
// With two buffers, those of two units at most.
std::vector<size_t> GatherWindow(const std::vector<Bucket>& buckets,
                                 const std::vector<size_t>& wanted, bool forward,
                                 const MegatronFsdpRules& rules);

// The elements of gradients whose reduction runs before compute waits.
int64_t CommunicationElements(const std::vector<Bucket>& buckets, const MegatronFsdpRules& rules);

// The largest sum of the elements of units that are gathered at the same time.
int64_t GatheredElements(const std::vector<Bucket>& buckets, const MegatronFsdpRules& rules);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_FSDP_UNITS_H_
