#ifndef DRYDOCK_NS3_BACKEND_HELPER_FAULT_INJECTOR_H_
#define DRYDOCK_NS3_BACKEND_HELPER_FAULT_INJECTOR_H_

#include "core/model/topology.h"
#include "ns3-backend/model/fabric/fabric-node.h"
#include "ns3-backend/model/wire/fabric-map.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

#include <vector>

namespace ns3::rdma
{

/**
 * \brief Breaks, slows and mends cables at the times that the cluster file states.
 *
 * A change happens between windows, while every node waits. Switches learn of a cable that failed
 * or was repaired RerouteTime later, and send into a failed cable until then. If faults of one kind
 * overlap on a cable, the last change holds.
 */
class FaultInjector : public Object
{
  public:
    static TypeId GetTypeId();
    /// Schedules the faults of \p topology, which is not kept. \p map and \p nodes (by their number
    /// in the map) outlive this.
    void Install(const drydock::Topology& topology,
                 FabricMap* map,
                 const std::vector<Ptr<FabricNode>>* nodes);

  private:
    void Apply(size_t number);
    void ApplyTo(const drydock::Fault& fault, uint32_t link);
    void Reroute();

    ns3::Time m_rerouteTime; //!< attribute
    FabricMap* m_map = nullptr;
    const std::vector<Ptr<FabricNode>>* m_nodes = nullptr;
    std::vector<drydock::Fault> m_faults;
    std::vector<bool> m_down; //!< by link
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_HELPER_FAULT_INJECTOR_H_
