// What a prediction takes for granted, each with its value and where it comes from: what
// workload-gen noted of the training run, and the network, kernels and collectives of the cluster.
#ifndef DRYDOCK_REPORT_FACTS_ASSUMPTIONS_H_
#define DRYDOCK_REPORT_FACTS_ASSUMPTIONS_H_

#include <vector>

#include "core/model/workload.h"
#include "report/inputs/inputs.h"

namespace drydock {

// Costs and settings of the cluster first, then those of the training run.
std::vector<Assumption> AllAssumptions(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_ASSUMPTIONS_H_
