#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_SENDER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_SENDER_H_

#include "ns3-backend/model/fabric/egress.h"
#include "ns3-backend/model/fabric/node-timers.h"
#include "ns3-backend/model/host/queue-pair-table.h"
#include "ns3-backend/model/host/rdma-transport.h"
#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/model/wire/telemetry.h"

#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief The sending side of a host: queue pairs take turns at their ports, follow their rates,
 * take acknowledgements and send again what was lost. Times in ps. Not thread-safe.
 *
 * It sets the READY, PACE and RETRY timers of its host, which calls the function of that name when
 * one is due. A function that returns a bool says whether the queue pair has joined the round of
 * its port: the host must then check whether that port is free.
 */
class RdmaSender
{
  public:
    /// All pointers outlive this. \p dataSize and \p ackSize are the bytes on the wire of a full
    /// packet and of an acknowledgement.
    void Configure(uint32_t host,
                   const FabricMap* map,
                   const RdmaTransport::Parameters* transport,
                   int64_t dataSize,
                   int64_t ackSize,
                   NodeTimers* timers);

    static constexpr uint32_t NONE = QueuePairTable::NONE;

    /// Returns the number of the queue pair for \p message, or NONE if no path leads to its
    /// destination.
    uint32_t Find(const drydock::Message& message)
    {
        return m_pairs.Find(message);
    }

    /// Queue pair \p number sends \p message, whose bytes are at the NIC at time \p ready.
    bool Add(uint32_t number, const drydock::Message& message, int64_t now, int64_t ready);

    /// READY: the next message of a queue pair is at the NIC.
    bool Release(uint32_t number, int64_t now);
    /// PACE: the rate of a queue pair allows its next packet.
    bool Resume(uint32_t number);

    struct RetryResult
    {
        bool timedOut = false; //!< an acknowledgement is overdue
        bool gaveUp = false;   //!< the queue pair has sent again RetryCount times without progress
        bool joined = false;   //!< the queue pair has joined the round of its port
    };

    /// RETRY: an acknowledgement may be overdue. If so, the queue pair sends again.
    RetryResult Retry(uint32_t number, int64_t now);

    /// Takes an acknowledgement, with \p telemetry if it has Frame::INT. \p done is cleared first,
    /// then gets the messages that are now wholly acknowledged, in order.
    bool Acknowledge(const Frame& ack,
                     const Telemetry& telemetry,
                     int64_t now,
                     std::vector<drydock::Message>& done);

    /// The receiver says that packets of queue pair \p number were marked.
    void Notify(uint32_t number, int64_t now)
    {
        m_pairs[number].pacing.controller->Notify(now);
    }

    enum Sent
    {
        NOTHING,
        FIRST_TIME,
        AGAIN, //!< the packet was sent before
    };

    /// Cuts the next packet of the queue pair whose turn it is at \p port.
    Sent Next(uint16_t port, int64_t now, const Egress& egress, Frame* frame);

    /// Whether no queue pair is in the round of \p port.
    bool Empty(uint16_t port) const
    {
        return m_rounds[port].Empty();
    }

    /// The fabric has new routes. A queue pair whose cables no longer lead to its peer moves to
    /// other cables of its NICs, and resends what is lost.
    void Reroute(int64_t now);

    const QueuePairPath& GetPath(uint32_t number) const
    {
        return m_pairs[number].path;
    }

    size_t GetNQueuePairs() const
    {
        return m_pairs.Size();
    }

    /// Whether there is nothing to send and nothing unacknowledged.
    bool Idle() const
    {
        return m_pairs.Idle();
    }

  private:
    /// Puts a queue pair that can send into the round of its port.
    bool Activate(uint32_t number);
    /// Takes a queue pair out of the round of its port.
    void LeaveRound(uint32_t number, QueuePair& pair);
    /// Whether the turn of \p pair ends after it has sent \p bytes.
    bool EndsTurn(QueuePairTurn& turn, int64_t bytes) const;
    /// After a packet of \p bytes: whether the rate allows the next packet in the same turn.
    bool Pace(uint32_t number, QueuePair& pair, int64_t now, int64_t bytes, const Egress& egress);
    Sent CutFrame(uint32_t number, int64_t now, Frame* frame);
    void WatchForLoss(uint32_t number, QueuePairLossWatch& watch, int64_t now);
    /// Tells the congestion control of \p pair about \p ack, which acknowledges \p bytes.
    void Control(const Frame& ack,
                 const Telemetry& telemetry,
                 int64_t now,
                 int64_t bytes,
                 QueuePair& pair);
    /// Sends packet \p psn again, and with go-back-N all packets after it.
    void Resend(uint32_t psn, QueuePair& pair);

    const FabricMap* m_map = nullptr;
    const RdmaTransport::Parameters* m_transport = nullptr;
    NodeTimers* m_timers = nullptr;
    int64_t m_headerSize = 0; //!< bytes on the wire around a payload
    QueuePairTable m_pairs;
    std::vector<Fifo<uint32_t>> m_rounds; //!< by port: queue pairs in turn
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_SENDER_H_
