#ifndef DRYDOCK_NS3_BACKEND_HELPER_FABRIC_HELPER_H_
#define DRYDOCK_NS3_BACKEND_HELPER_FABRIC_HELPER_H_

#include "core/model/topology.h"
#include "ns3-backend/helper/fault-injector.h"
#include "ns3-backend/model/fabric/fabric-switch.h"
#include "ns3-backend/model/host/rdma-host.h"
#include "ns3-backend/model/simulator/windowed-simulator-impl.h"
#include "ns3-backend/model/wire/fabric-map.h"

#include "ns3/ptr.h"

#include <vector>

namespace ns3::rdma
{

/**
 * \brief Builds the nodes and links of a Topology.
 *
 * Nodes are in ns3::NodeList: hosts by their id, then switches by their index, each with one device
 * per cable. Cables are in ns3::ChannelList in the order of the Topology. The Topology sets the
 * attributes that it decides (MTU, latency, buffer); other attributes keep their defaults, which
 * Config::SetDefault changes before construction.
 */
class FabricHelper
{
  public:
    /// Does not keep \p topology.
    /// REQUIRES: ValidateFabric accepts \p topology.
    explicit FabricHelper(const drydock::Topology& topology);

    /// Gives \p simulator the partitions and the lookahead.
    void Install(Ptr<WindowedSimulatorImpl> simulator) const;

    const std::vector<RdmaHost*>& GetHosts() const
    {
        return m_hosts;
    }

    const std::vector<FabricSwitch*>& GetSwitches() const
    {
        return m_switches;
    }

    /// Returns a node by its number in the map.
    const FabricNode& GetNode(uint32_t node) const
    {
        return *m_nodes[node];
    }

    /// Returns the bytes on the wire around the payload of a packet of data.
    int64_t GetHeaderBytes() const
    {
        return m_header;
    }

    const FabricMap& GetMap() const
    {
        return m_map;
    }

  private:
    static Ptr<RdmaTransport> MakeTransport(const drydock::Topology& topology);
    void AddHosts(const drydock::Topology& topology);
    void AddSwitches(const drydock::Topology& topology);
    void ConnectPorts();
    void AddDevices();

    FabricMap m_map;
    int64_t m_header;
    int64_t m_ack;
    int64_t m_largestFrame;
    Ptr<RdmaTransport> m_transport;
    Ptr<FaultInjector> m_faults;          //!< null: none
    std::vector<Ptr<FabricNode>> m_nodes; //!< keeps them alive after Simulator::Destroy
    std::vector<RdmaHost*> m_hosts;
    std::vector<FabricSwitch*> m_switches;
    std::vector<uint32_t> m_tiers; //!< of the switches
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_HELPER_FABRIC_HELPER_H_
