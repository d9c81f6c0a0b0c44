// How often a cluster's parts interrupt a run, and what each failure takes out of service.
//
// A failure of any part stops the whole run, since training is synchronous. A GPU, its HBM, a NIC,
// the cable of a NIC and a host take their host out of service; a switch takes all hosts with a NIC
// on it. Switches and cables between switches, and software, take none: the run is interrupted, and
// the other paths carry it from then on.
#ifndef DRYDOCK_STUDY_GOODPUT_HAZARDS_H_
#define DRYDOCK_STUDY_GOODPUT_HAZARDS_H_

#include <vector>

#include "core/model/topology.h"
#include "study/goodput/failure_model.h"

namespace drydock {

// Parts of a kind that take out as many hosts.
struct Hazard {
  FailingPart part = FailingPart::kGpu;
  int hosts = 0;          // that a failure takes out of service
  int64_t count = 0;      // parts
  double per_second = 0;  // failures of all of them; 0 if unknown
};

// Without kinds of which the cluster has none.
std::vector<Hazard> HazardsOf(const Topology& topology, const FailureModel& model);

double SumOf(const std::vector<Hazard>& hazards);  // failures in a second

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_HAZARDS_H_
