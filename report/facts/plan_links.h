// The links that a plan's connections cross, by name: inside a host from GPU to GPU, between hosts
// every cable. Where a fabric has several ways, the one that the queue pairs' hashes choose, which
// is the packet and the fluid network's too. Ways are looked up anew each time. Thread-safe.
#ifndef DRYDOCK_REPORT_FACTS_PLAN_LINKS_H_
#define DRYDOCK_REPORT_FACTS_PLAN_LINKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/fabric/connection_shape.h"
#include "core/model/fabric/fabric_map.h"
#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

class PlanLinks {
 public:
  // Outlives this.
  explicit PlanLinks(const Workload& workload);

  const FabricMap& fabric() const { return fabric_; }
  const Placement& placement() const { return placement_; }

  // The cables (links of the fabric map) that a connection between NICs crosses, a list for each of
  // its queue pairs; none for any other connection.
  std::vector<std::vector<uint32_t>> Cables(int group, const Connection& connection,
                                            uint16_t channel) const;
  std::string CableName(uint32_t link) const;  // "host 0/nic3 to leaf3"

  // All that the data of one member crosses in a call, each once, in the order of the plan: towards
  // the member; of a member that only sends, away from it.
  std::vector<std::string> NamesFor(const Plan& plan, int group, int member) const;

 private:
  void AddNames(int group, const Connection& connection, uint16_t channel,
                std::vector<std::string>* names) const;

  const Workload& workload_;
  Placement placement_;
  FabricMap fabric_;
  ConnectionShape shape_;
};

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_PLAN_LINKS_H_
