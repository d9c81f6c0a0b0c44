#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_CABLE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_CABLE_H_

#include "ns3-backend/model/fabric/fabric-port.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <array>

namespace ns3::rdma
{

/**
 * \brief A cable between two ports, full duplex, as ns-3 sees it.
 *
 * Frames do not pass through this object: they go from the sender's Egress into a mailbox. The
 * object exists for ns3::ChannelList, Config paths and reports.
 */
class FabricCable : public Channel
{
  public:
    static TypeId GetTypeId();
    void Attach(Ptr<FabricPort> a, Ptr<FabricPort> b);

    // From Channel
    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  private:
    DataRate GetDataRate() const;
    Time GetDelay() const;

    std::array<FabricPort*, 2> m_ports{}; //!< owned by their nodes, which own this channel
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_CABLE_H_
