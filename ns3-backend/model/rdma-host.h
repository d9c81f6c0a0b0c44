#ifndef DRYDOCK_NS3_BACKEND_RDMA_HOST_H
#define DRYDOCK_NS3_BACKEND_RDMA_HOST_H

#include "exec-engine/network.h"
#include "ns3-backend/model/fabric-node.h"
#include "ns3-backend/model/flat-index.h"
#include "ns3-backend/model/host-calls.h"
#include "ns3-backend/model/queue-pair.h"
#include "ns3-backend/model/receive-queue.h"

#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::rdma
{

class RdmaHost;

/// Of a message that is about to be sent, its receiver is told what it is.
struct Announcement
{
    uint64_t queue; //!< key of the receive queue
    drydock::Message message;
};

/**
 * \brief Announcements to one host from the hosts of one thread.
 *
 * The bytes of a message travel as frames; what the message is (its id, tag and cookie) would ride
 * in its headers. Handing it over beside the frames keeps them small. It is there at the end of the
 * window in which the message was sent, and no frame of it can arrive earlier.
 */
class AnnouncementBox : public Mailbox
{
  public:
    explicit AnnouncementBox(RdmaHost* receiver);
    void Deliver() override;

    std::vector<Announcement> announcements;

  private:
    RdmaHost* m_host;
};

/// What a queue pair does about packets that get lost.
enum Retransmission
{
    NEVER_LOST,       //!< nothing gets lost, nothing is watched
    GO_BACK_N,        //!< sends everything again from the first that is missing
    SELECTIVE_REPEAT, //!< sends again what is missing
};

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
 * A queue pair is made by the first message of its (flow, NICs) and stays.
 *
 * Thread-safety: everything runs on the thread of the partition.
 */
class RdmaHost : public FabricNode, public drydock::HostPort
{
  public:
    static TypeId GetTypeId();

    /// Before the run; \p hosts outlives this and holds every host by its id.
    void Configure(drydock::HostId id, const std::vector<RdmaHost*>* hosts);
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

    size_t GetNQueuePairs() const
    {
        return m_pairs.size();
    }

    /// No message is under way from here or to here.
    bool Idle() const;

    /// Why and when this host asked for the run to end; no text if it did not.
    struct Failure
    {
        std::string text;
        int64_t time = NEVER;
    };

    const Failure& GetFailure() const
    {
        return m_failure;
    }

  private:
    friend class FabricNode;

    struct NameHash
    {
        size_t operator()(const QueuePairName& name) const;
    };

    // For FabricNode::RunEvent
    void Arrive(uint16_t port, const Frame& frame);
    bool Next(uint16_t port, Frame* frame);

    bool Waiting(uint16_t port) const
    {
        return MaySend(port, m_cnpPriority, m_cnps) || MaySend(port, m_ackPriority, m_acks) ||
               MaySend(port, m_dataPriority, m_active);
    }

    /// Whether \p queues hold something for \p port that is not paused.
    template <typename Queues>
    bool MaySend(uint16_t port, uint8_t priority, const Queues& queues) const
    {
        return !queues[port].Empty() && !(m_egress[port].paused & ClassBit(priority));
    }

    void Timer(Kind kind, uint32_t number);
    void Ready(uint32_t number);
    void Retry(uint32_t number);
    void RunCall();
    /// Number of the queue pair for \p message, made if new; NO_PAIR where there is no way.
    uint32_t FindPair(const drydock::Message& message);
    int64_t WindowOf(FabricMap::AccessPair ends, uint32_t path) const;
    void ArriveData(uint16_t port, const Frame& frame);
    void ArriveAck(const Frame& frame);
    void AskForMissing(uint16_t port, const Frame& frame, uint32_t reach, ReceiveQueue& queue);
    void NotifyOfMarks(uint16_t port, const Frame& frame, ReceiveQueue& queue);
    void Reply(uint16_t port, const Frame& frame, uint8_t flags, uint32_t psn, uint16_t missing);
    /// After a packet of \p bytes was sent now: whether the rate lets the next one take its turn.
    bool Pace(uint32_t number, QueuePair& pair, int64_t bytes);
    void WatchForLoss(uint32_t number, QueuePair& pair);
    void Fail(const std::string& text);
    /// Puts a queue pair that can send into its port's round.
    void Activate(uint32_t number);
    Frame CutFrame(uint32_t number);

    static uint64_t QueueKey(uint32_t from, uint32_t queuePair)
    {
        return uint64_t{from} << 32 | queuePair;
    }

    static constexpr uint32_t NO_PAIR = UINT32_MAX;

    uint32_t m_mtu = 0;                           //!< attribute
    uint8_t m_dataPriority = 0;                   //!< attribute
    uint8_t m_ackPriority = 0;                    //!< attribute
    uint8_t m_cnpPriority = 0;                    //!< attribute
    ns3::Time m_cnpInterval;                      //!< attribute
    Retransmission m_retransmission = NEVER_LOST; //!< attribute
    ns3::Time m_ackTimeout;                       //!< attribute
    uint32_t m_retryCount = 0;                    //!< attribute
    ns3::Time m_nackInterval;                     //!< attribute
    Ptr<CongestionControl> m_congestionControl;   //!< attribute; null: none
    uint32_t m_packetsPerAck = 0;                 //!< attribute
    double m_windowBdp = 0;                       //!< attribute
    ns3::Time m_nicLatency;                       //!< attribute
    int64_t m_latency = 0;                        //!< the same, ps

    drydock::HostId m_id = 0;
    drydock::HostActor* m_actor = nullptr;
    const std::vector<RdmaHost*>* m_hosts = nullptr;
    std::vector<std::unique_ptr<AnnouncementBox>> m_boxes; //!< by sending thread
    HostCalls m_calls;
    std::vector<QueuePair> m_pairs;
    std::unordered_map<QueuePairName, uint32_t, NameHash> m_pairByName;
    std::vector<ReceiveQueue> m_receive;
    FlatIndex m_receiveIndex;             //!< from QueueKey to m_receive
    std::vector<Fifo<Frame>> m_cnps;      //!< by port, to be sent before anything else
    std::vector<Fifo<Frame>> m_acks;      //!< by port, to be sent
    std::vector<Fifo<uint32_t>> m_active; //!< by port, queue pairs in turn
    Counts m_counts;
    Failure m_failure;
    TracedCallback<const drydock::Message&, int64_t> m_deliveredTrace;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_RDMA_HOST_H
