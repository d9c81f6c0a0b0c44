#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_HOST_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_HOST_H_

#include "core/network/network.h"
#include "ns3-backend/model/fabric/fabric-node.h"
#include "ns3-backend/model/host/announcement-box.h"
#include "ns3-backend/model/host/host-calls.h"
#include "ns3-backend/model/host/message-parts.h"
#include "ns3-backend/model/host/rdma-receiver.h"
#include "ns3-backend/model/host/rdma-sender.h"

#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A host with RDMA NICs. It connects the sending side (RdmaSender), the receiving side
 * (RdmaReceiver) and the callbacks of the host's actor (HostCalls) with the ports.
 *
 * A message given to Send is at the NIC one NIC latency later and is cut into packets of one MTU.
 * Its packets take turns with those of other queue pairs of the port that can send;
 * acknowledgements go first. The receiver acknowledges at once every packet that requests it: one
 * in PacketsPerAck, the last of a message, and one that fills the window. The message is delivered
 * one NIC latency after its last bit has arrived. It has been sent when its last acknowledgement is
 * back.
 *
 * Congestion control sets how soon a packet may follow another. The receiver reports marked packets
 * at most once in CnpInterval. A receiver that misses a packet sends a NACK. Packets that are not
 * acknowledged in time are sent again; after RetryCount times without progress the run fails. The
 * queue pairs of a paused class (PFC) wait.
 *
 * Thread-safety: everything runs on the thread of the partition.
 */
class RdmaHost : public FabricNode, public drydock::HostPort
{
  public:
    static TypeId GetTypeId();

    /// Called before the run. \p hosts outlives this and has every host by its id.
    void Configure(drydock::HostId id,
                   const std::vector<RdmaHost*>* hosts,
                   const RdmaTransport::Parameters& transport);
    void SetActor(drydock::HostActor* actor);

    // From HostPort
    drydock::Time Now() const override;
    void At(drydock::Time when, drydock::TimerId id) override;
    void Send(const drydock::Message& message) override;

    // From Partition
    void Adopt(ThreadContext* context, size_t slot) override;
    void Start() override;
    uint64_t Process(int64_t limit) override;
    int64_t NextTime() const override;

    void Receive(uint32_t name, drydock::Unpacker& parcel) override;
    /// Called between windows, at \p now: the fabric has new routes (RdmaSender::Reroute).
    void Reroute(int64_t now);
    /// Called between windows.
    void Announce(const Announcement& announcement);

    struct Counts
    {
        uint64_t messages = 0; //!< sent by this host
        uint64_t packets = 0;  //!< of data, sent by this host
        uint64_t acks = 0;     //!< sent by this host
        uint64_t calls = 0;    //!< callbacks of the actor
        uint64_t cnps = 0;     //!< congestion notifications, sent by this host
        uint64_t nacks = 0;    //!< sent by this host
        uint64_t repeated = 0; //!< packets of data sent again
        uint64_t timeouts = 0; //!< acknowledgements that did not arrive in time
    };

    const Counts& GetCounts() const
    {
        return m_counts;
    }

    /// Returns the number of packets of data that \p port has sent again.
    uint64_t GetNRepeated(uint16_t port) const
    {
        return m_repeated[port];
    }

    size_t GetNQueuePairs() const
    {
        return m_sender.GetNQueuePairs();
    }

    /// Whether no message from or to this host is in flight.
    bool Idle() const;

  private:
    friend class FabricNode;

    // For FabricNode::RunEvent
    void Arrive(uint16_t port, const Frame& frame);
    bool Next(uint16_t port, Frame* frame);

    bool Waiting(uint16_t port) const
    {
        return MaySend(port, m_transport.cnpPriority, m_cnps) ||
               MaySend(port, m_transport.ackPriority, m_acks) ||
               (!m_sender.Empty(port) && IsOpen(port, m_transport.dataPriority));
    }

    /// Whether \p queues hold a frame for \p port whose class is not paused.
    bool MaySend(uint16_t port, uint8_t priority, const std::vector<Fifo<Frame>>& queues) const
    {
        return !queues[port].Empty() && IsOpen(port, priority);
    }

    /// Whether traffic class \p priority is not paused at \p port.
    bool IsOpen(uint16_t port, uint8_t priority) const
    {
        return !(m_egress[port].paused & ClassBit(priority));
    }

    static constexpr uint8_t ALL_CLASSES = UINT8_MAX;

    /// Returns the classes that have frames to send by \p port and are not paused, one bit each.
    uint8_t ReadyClasses(uint16_t port) const;
    /// Takes the next frame of \p classes, without the paused ones.
    bool NextOf(uint8_t classes, uint16_t port, Frame* frame);
    /// Takes the next packet of data.
    bool NextData(uint16_t port, Frame* frame);

    /// Gives a message, or a part of one, to its queue pair. Returns false if no path leads to its
    /// destination.
    bool Dispatch(const drydock::Message& message);
    /// Sends a message in parts over several queue pairs of its connection.
    void SendParts(const drydock::Message& message);
    void SendAnnouncement(const Announcement& announcement);

    /// Whether a message is a part of one, or is to be cut into parts.
    bool IsPart(const drydock::Message& message) const
    {
        return m_transport.queuePairs > 1 && !message.control;
    }

    /// Names the connection that a part belongs to, at both ends.
    static uint64_t ConnectionKey(const drydock::Message& part)
    {
        return uint64_t{static_cast<uint32_t>(part.source)} << 32 | part.detail;
    }

    /// Sends by the port of queue pair \p number if the pair has \p joined the round of that port.
    void KickSender(uint32_t number, bool joined)
    {
        if (joined)
        {
            Kick(*this, m_sender.GetPath(number).port);
        }
    }

    void Timer(EventKind kind, uint32_t number);
    void Retry(uint32_t number);
    void RunCall();
    void ArriveData(uint16_t port, const Frame& frame);
    void ArriveAck(const Frame& frame);

    RdmaTransport::Parameters m_transport{};
    ns3::Time m_nicLatency; //!< attribute
    int64_t m_latency = 0;  //!< the same, ps

    drydock::HostId m_id = 0;
    drydock::HostActor* m_actor = nullptr;
    const std::vector<RdmaHost*>* m_hosts = nullptr;
    std::vector<std::unique_ptr<AnnouncementBox>> m_boxes; //!< by sending thread
    HostCalls m_calls;
    ClassScheduler m_scheduler;
    RdmaSender m_sender;
    RdmaReceiver m_receiver;
    QueuePairTable::Names m_connections;      //!< connections with several queue pairs, by name
    std::vector<uint64_t> m_connectionSent;   //!< messages so far, by connection
    MessageParts m_sentParts;                 //!< of messages sent, not acknowledged
    MessageParts m_comingParts;               //!< of messages to this host, not arrived
    std::vector<Frame> m_replies;             //!< scratch
    std::vector<drydock::Message> m_complete; //!< scratch
    std::vector<Fifo<Frame>> m_cnps;          //!< by port: notifications to be sent first
    std::vector<Fifo<Frame>> m_acks;          //!< by port: acknowledgements to be sent
    std::vector<Fifo<Telemetry>> m_echoes;    //!< by port: of acknowledgements with INT
    Counts m_counts;
    std::vector<uint64_t> m_repeated; //!< packets of data sent again, by port
    TracedCallback<const drydock::Message&, int64_t> m_deliveredTrace;
    TracedCallback<const Frame&, int64_t> m_repeatTrace;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_HOST_H_
