// The traffic of one member of a call on links, from the call's plan.
#ifndef DRYDOCK_REPORT_FACTS_TRAFFIC_H_
#define DRYDOCK_REPORT_FACTS_TRAFFIC_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "report/inputs/inputs.h"
#include "report/path/plan_links.h"

namespace drydock {

// Bytes on the wire, without the network's headers.
struct Traffic {
  int64_t scale_up_out = 0;  // of the member's GPU
  int64_t scale_up_in = 0;
  int64_t sent = 0;                                  // to NICs
  std::vector<std::pair<uint32_t, int64_t>> cables;  // by link of the fabric, each once

  bool empty() const { return scale_up_out == 0 && scale_up_in == 0 && cables.empty(); }
};

// With NVLS, the switches read each member's part once and send each member one copy, for any
// number of members (core/model/flow_plan.h).
Traffic TrafficOf(const PlanLinks& links, const Workload& workload, const Plan& plan, int group,
                  int member);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_TRAFFIC_H_
