// What a captured process believes of its host, from the cluster.
#ifndef DRYDOCK_CAPTURE_RUN_PROCESS_FACTS_H_
#define DRYDOCK_CAPTURE_RUN_PROCESS_FACTS_H_

#include "capture/log/entry.h"
#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock::capture {

// REQUIRES: the cluster has this rank; ranks fill hosts in order.
CapturedProcess FactsOf(const Topology& topology, int rank);

// Ranks on the host of this rank.
int RanksBeside(const Topology& topology, int rank);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_PROCESS_FACTS_H_
