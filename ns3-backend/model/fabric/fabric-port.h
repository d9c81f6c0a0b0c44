#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_PORT_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_PORT_H_

#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/frame.h"

#include "ns3/channel.h"
#include "ns3/net-device.h"
#include "ns3/traced-callback.h"

namespace ns3::rdma
{

/**
 * \brief A port of a NIC or of a switch, as ns-3 sees it: the place of its trace sources.
 *
 * Device i of a node is its port i. The state of the port on the hot path is an Egress in the node;
 * this object is touched only if a trace sink is connected. It carries frames, not ns3::Packet, so
 * Send always fails: traffic comes from the queue pairs of RdmaHost.
 */
class FabricPort : public NetDevice
{
  public:
    static TypeId GetTypeId();
    void SetDirection(const FabricDirection* outgoing);
    void SetChannel(Ptr<Channel> channel);

    const FabricDirection& GetDirection() const
    {
        return *m_direction;
    }

    /// Whether a trace source has a sink. Sinks must be connected before the run.
    bool HasListener() const
    {
        return !m_transmitTrace.IsEmpty();
    }

    void TraceTransmit(const Frame& frame, int64_t now) const
    {
        m_transmitTrace(frame, now);
    }

    // From NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address address) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& destination, uint16_t protocol) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    const FabricDirection* m_direction = nullptr;
    Ptr<Channel> m_channel;
    Node* m_node = nullptr; //!< owns this device
    uint32_t m_index = 0;
    uint16_t m_mtu = UINT16_MAX;
    TracedCallback<const Frame&, int64_t> m_transmitTrace;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_PORT_H_
