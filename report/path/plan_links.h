// The links that a plan's connections cross, by name: inside a host from GPU to GPU, between hosts
// cable by cable. If a fabric has several routes, the hashes of the queue pairs choose one, as in
// the packet and the fluid network. Computes routes on each call. Thread-safe.
#ifndef DRYDOCK_REPORT_PATH_PLAN_LINKS_H_
#define DRYDOCK_REPORT_PATH_PLAN_LINKS_H_

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
  // REQUIRES: `workload` outlives this.
  explicit PlanLinks(const Workload& workload);

  const FabricMap& fabric() const { return fabric_; }
  const Placement& placement() const { return placement_; }

  // Returns the cables (links of the fabric map) of a connection between NICs, as a list for each
  // queue pair. Returns no list for other connections.
  std::vector<std::vector<uint32_t>> Cables(int group, const Connection& connection,
                                            uint16_t channel) const;
  std::string CableName(uint32_t link) const;  // "host 0/nic3 to leaf3"

  // Returns the links that a member's data crosses in a call, each once, in the order of the plan:
  // links towards the member, or away from a member that only sends.
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

#endif  // DRYDOCK_REPORT_PATH_PLAN_LINKS_H_
