// How many tokens the busiest expert-parallel rank gets, from the distribution of the loads of
// experts that training.moe_expert_loads names (configs/expert-loads.yaml).
#ifndef DRYDOCK_WORKLOAD_GEN_ROUTING_EXPERT_LOADS_H_
#define DRYDOCK_WORKLOAD_GEN_ROUTING_EXPERT_LOADS_H_

#include <string>

#include "core/base/result.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

std::string ExpertLoadsPath();

// The expected tokens of the busiest expert-parallel rank over the mean, where the loads of experts
// vary by `variation` (standard deviation over mean) beside chance:
//
//   1 + z(expert) sqrt((variation² + 1 / copies) expert / experts)
//
// z is the expected maximum of normal draws (core/base/order_statistics.h), `copies` the mean
// number of tokens that an expert gets in a micro-batch from all ranks that send to it. At most
// `expert`.
double ImbalanceOf(const TrainingJob& job, double variation);

// Sets training.moe.imbalance to what training.moe.loads stands for; "uniform" leaves it. Returns
// an error at the key, with the nearest name, if the distribution does not exist, where both keys
// are stated, and where the loads change nothing.
Status ResolveExpertLoads(TrainingJob* job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_ROUTING_EXPERT_LOADS_H_
