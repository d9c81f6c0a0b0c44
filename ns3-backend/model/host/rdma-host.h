#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_HOST_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_HOST_H_

#include "exec-engine/network/network.h"
#include "ns3-backend/model/host/announcement-box.h"
#include "ns3-backend/model/fabric/fabric-node.h"
#include "ns3-backend/model/host/host-calls.h"
#include "ns3-backend/model/host/message-parts.h"
#include "ns3-backend/model/host/queue-pair-table.h"
#include "ns3-backend/model/host/rdma-receiver.h"

#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A host with its RDMA NICs: queue pairs that share each port in turns.
 *
 * A message given to Send is at the NIC one NIC latency later, is cut into packets of one MTU, and
 * its packets take turns with those of the other queue pairs of the port that have something to
 * send and room in their window; acknowledgements go first. The receiver acknowledges at once every
 * packet that asks for it: each PacketsPerAck-th, the last of a message, and one that fills the
 * window. The message is delivered one NIC latency after its last bit has arrived, and has been
 * sent when its last acknowledgement is back.
 *
 * Congestion control sets how soon a packet may follow another; the receiver tells the sender of
 * marked packets at most every CnpInterval. A receiver that misses a packet says so (NACK); what is
 * not acknowledged in time is sent again, and after RetryCount times without progress the run
 * fails. A paused class (PFC) keeps its queue pairs waiting.
 *
 * Thread-safety: everything runs on the thread of the partition.
 */
class RdmaHost : public FabricNode, public drydock::HostPort
{
  public:
    static TypeId GetTypeId();

    /// Before the run; \p hosts outlives this and holds every host by its id.
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
    /// Called between windows, at \p now: the fabric has found its ways again. Queue pairs whose
    /// cables have none go on over others of their NICs; what is lost, they send again.
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
        uint64_t timeouts = 0; //!< acknowledgements that did not come in time
    };

    const Counts& GetCounts() const
    {
        return m_counts;
    }

    /// Packets of data that \p port has sent again.
    uint64_t GetNRepeated(uint16_t port) const
    {
        return m_repeated[port];
    }

    size_t GetNQueuePairs() const
    {
        return m_pairs.Size();
    }

    /// No message is under way from here or to here.
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
               MaySend(port, m_transport.dataPriority, m_active);
    }

    /// Whether \p queues hold something for \p port that is not paused.
    template <typename Queues>
    bool MaySend(uint16_t port, uint8_t priority, const Queues& queues) const
    {
        return !queues[port].Empty() && !(m_egress[port].paused & ClassBit(priority));
    }

    static constexpr uint8_t ALL_CLASSES = UINT8_MAX;

    /// Those that have something to send by \p port and are not paused, one bit each.
    uint8_t ReadyClasses(uint16_t port) const;
    /// The next frame of \p classes, those that are paused aside.
    bool NextOf(uint8_t classes, uint16_t port, Frame* frame);
    /// The next packet of the queue pair whose turn it is.
    bool NextData(uint16_t port, Frame* frame);

    /// Whether the next queue pair takes its turn after \p pair has sent \p bytes.
    bool EndsTurn(QueuePair& pair, int64_t bytes) const
    {
        if (m_transport.turnBytes == 0)
        {
            return true;
        }
        // As among classes (ClassScheduler): what it overdraws counts in its next turn.
        if (pair.credit <= 0)
        {
            pair.credit += m_transport.turnBytes;
        }
        pair.credit -= bytes;
        return pair.credit <= 0;
    }

    /// A message, or a part of one, goes to its queue pair. False if there is no way.
    bool Dispatch(const drydock::Message& message);
    /// A message goes over several queue pairs of its connection.
    void SendParts(const drydock::Message& message);
    void SendAnnouncement(const Announcement& announcement);

    /// Whether a message is a part of one, or is to be cut into some.
    bool IsPart(const drydock::Message& message) const
    {
        return m_transport.queuePairs > 1 && !message.control;
    }

    /// Names the connection that a part belongs to, here and at its other end.
    static uint64_t ConnectionKey(const drydock::Message& part)
    {
        return uint64_t{static_cast<uint32_t>(part.source)} << 32 | part.detail;
    }

    /// Takes an active queue pair out of its port's round.
    void LeaveRound(uint32_t number, QueuePair& pair);
    void Timer(Kind kind, uint32_t number);
    void Ready(uint32_t number);
    void Retry(uint32_t number);
    void RunCall();
    void ArriveData(uint16_t port, const Frame& frame);
    void ArriveAck(const Frame& frame);
    /// After a packet of \p bytes was sent now: whether the rate lets the next one take its turn.
    bool Pace(uint32_t number, QueuePair& pair, int64_t bytes);
    void WatchForLoss(uint32_t number, QueuePair& pair);
    /// Puts a queue pair that can send into its port's round.
    void Activate(uint32_t number);
    Frame CutFrame(uint32_t number);
    /// Tells the congestion control of \p pair what \p ack says; it acknowledges \p bytes.
    void Control(const Frame& ack, int64_t bytes, QueuePair& pair);

    RdmaTransport::Parameters m_transport{};
    ns3::Time m_nicLatency; //!< attribute
    int64_t m_latency = 0;  //!< the same, ps

    drydock::HostId m_id = 0;
    drydock::HostActor* m_actor = nullptr;
    const std::vector<RdmaHost*>* m_hosts = nullptr;
    std::vector<std::unique_ptr<AnnouncementBox>> m_boxes; //!< by sending thread
    HostCalls m_calls;
    ClassScheduler m_scheduler;
    QueuePairTable m_pairs;
    RdmaReceiver m_receiver;
    QueuePairTable::Names m_connections;      //!< that have several queue pairs, by their names
    std::vector<uint64_t> m_connectionSent;   //!< messages so far, by connection
    MessageParts m_sentParts;                 //!< not acknowledged
    MessageParts m_comingParts;               //!< not here
    std::vector<Frame> m_replies;             //!< scratch
    std::vector<drydock::Message> m_complete; //!< scratch
    std::vector<Fifo<Frame>> m_cnps;          //!< by port, to be sent before anything else
    std::vector<Fifo<Frame>> m_acks;          //!< by port, to be sent
    std::vector<Fifo<uint32_t>> m_active;     //!< by port, queue pairs in turn
    std::vector<Fifo<Telemetry>> m_echoes; //!< by port, of the acknowledgements to be sent with INT
    Counts m_counts;
    std::vector<uint64_t> m_repeated; //!< packets of data, by port
    TracedCallback<const drydock::Message&, int64_t> m_deliveredTrace;
    TracedCallback<const Frame&, int64_t> m_repeatTrace;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_HOST_H_
