#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_H_

#include "ns3-backend/model/congestion/congestion-control.h"
#include "ns3-backend/model/host/outgoing-messages.h"
#include "ns3-backend/model/host/round-trip-meter.h"
#include "ns3-backend/model/host/send-window.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace ns3::rdma
{

/// The key of a queue pair at its sending host.
struct QueuePairName
{
    drydock::HostId destination;
    int16_t sourceNic;
    int16_t destinationNic;
    uint32_t flow;

    bool operator==(const QueuePairName&) const = default;
};

/// The route of a queue pair's packets. A fault can change all fields but the hash.
struct QueuePairPath
{
    uint32_t from; //!< link from the NIC
    uint32_t to;   //!< link to the peer's NIC
    uint32_t hash; //!< chooses among equally short paths
    uint16_t port; //!< of the host: the one that `from` leaves by
};

/// The turns that a queue pair takes at its port.
struct QueuePairTurn
{
    bool active = false; //!< it is in the port's round; only while CanSend
    int64_t credit = 0;  //!< bytes left of its turn, where turns are counted in bytes
};

/// How congestion control spaces the packets of a queue pair. Times in ps.
struct QueuePairPacing
{
    std::unique_ptr<FlowController> controller; //!< null without congestion control
    int64_t allowedAt = 0;                      //!< when the rate allows the next packet
    bool waiting = false;                       //!< an event waits for allowedAt
};

/// Detects acknowledgements that do not arrive in time. Times in ps.
struct QueuePairLossWatch
{
    bool running = false;     //!< an event looks for overdue acknowledgements
    uint32_t retries = 0;     //!< timeouts since the last progress
    int64_t lastProgress = 0; //!< last acknowledgement, or first packet after idleness
};

/**
 * \brief Packet sequence numbers of the sending half of a queue pair. They do not wrap here; frames
 * carry them modulo 2^32.
 */
struct SequenceNumbers
{
    uint64_t next = 0;  //!< of the packet to be cut next
    uint64_t end = 0;   //!< after the last packet that was sent
    uint64_t acked = 0; //!< every packet before it is acknowledged
    uint64_t asked = 0; //!< after the last packet that requested an acknowledgement

    /// Returns the number that a frame carries as \p psn: the first one from `acked` on.
    uint64_t Unwrap(uint32_t psn) const
    {
        return acked + (psn - static_cast<uint32_t>(acked));
    }
};

/**
 * \brief The sending half of a queue pair: it cuts messages into packets, keeps them within its
 * window and decides which packets to send again.
 *
 * The host keeps its own records of the queue pair in the public members (path, turn, pacing, loss
 * watch).
 */
class QueuePair
{
  public:
    QueuePair(const QueuePairPath& initialPath, int64_t mtu, int64_t window)
        : path(initialPath),
          m_mtu(mtu),
          m_window(window),
          m_messages(mtu)
    {
    }

    /// Adds a message whose bytes are at the NIC at time \p ready, ps.
    /// REQUIRES: \p ready does not decrease from message to message.
    void Add(const drydock::Message& message, int64_t ready)
    {
        m_messages.Add(message, ready);
    }

    /// Releases messages up to time \p now. Returns when the next one is ready, or -1 if there is
    /// none.
    int64_t Release(int64_t now)
    {
        return m_messages.Release(now);
    }

    /**
     * Whether a packet is ready and fits into the window. A packet that is sent again was counted
     * before. If no packet in flight requests an acknowledgement, one more packet always fits: the
     * window may have shrunk below the bytes in flight, and nothing else would make the receiver
     * reply.
     */
    bool CanSend() const
    {
        return !m_repeats.Empty() ||
               (m_messages.HasPacket() &&
                (m_window.Fits(m_messages.NextPayload()) || m_psn.asked <= m_psn.acked));
    }

    /// The packet \p psn, which was just cut, requests an acknowledgement.
    void NoteAckRequest(uint32_t psn)
    {
        m_psn.asked = std::max(m_psn.asked, m_psn.Unwrap(psn) + 1);
    }

    struct Packet
    {
        uint32_t psn;
        uint16_t payload;
        bool endsMessage;
        bool fillsWindow; //!< no further packet fits before an acknowledgement
        bool again;       //!< it was sent before
    };

    /// Returns the next packet to send.
    /// REQUIRES: CanSend().
    Packet Cut()
    {
        if (!m_repeats.Empty())
        {
            return CutAgain();
        }
        const int64_t payload = m_messages.NextPayload();
        Packet packet{};
        packet.psn = static_cast<uint32_t>(m_psn.next++);
        packet.again = m_psn.next <= m_psn.end;
        m_psn.end = std::max(m_psn.end, m_psn.next);
        packet.payload = static_cast<uint16_t>(payload);
        m_window.Send(payload);
        packet.endsMessage = m_messages.Cut(payload);
        packet.fillsWindow = !m_window.Fits(m_mtu);
        return packet;
    }

    /// The receiver has every packet before \p psn. Calls \p done with each message that is now
    /// wholly acknowledged, in order.
    template <typename Done>
    void Acknowledge(uint32_t psn, Done done)
    {
        const auto progress = static_cast<int32_t>(psn - GetAckedPsn());
        if (progress <= 0)
        {
            return; // overtaken by a later acknowledgement
        }
        m_psn.acked += static_cast<uint32_t>(progress);
        m_messages.Finish(m_psn.acked, done);
        m_window.SetAcked(m_messages.BytesBefore(m_psn.acked));
        if (m_psn.next < m_psn.acked)
        {
            SendFrom(m_psn.acked); // it had gone back too far
        }
        ForgetRepeats();
    }

    /// Go-back-N: \p psn is the next to be sent, if it was sent and is not yet acknowledged.
    void GoBack(uint32_t psn)
    {
        const uint64_t whole = m_psn.Unwrap(psn);
        if (whole < m_psn.next)
        {
            SendFrom(whole);
        }
    }

    /// Selective repeat: \p psn alone is to be sent again, if it is not yet acknowledged.
    void Repeat(uint32_t psn)
    {
        const uint64_t whole = m_psn.Unwrap(psn);
        if (whole < m_psn.next)
        {
            m_repeats.Push(whole);
            m_roundTrips.Clear();
        }
    }

    /// Returns the number of the first packet that is not acknowledged, modulo 2^32 as in frames.
    uint32_t GetAckedPsn() const
    {
        return static_cast<uint32_t>(m_psn.acked);
    }

    int64_t GetAckedBytes() const
    {
        return m_window.GetAcked();
    }

    /// Applies the window of the congestion control, bytes.
    void Limit(int64_t window)
    {
        m_window.Limit(window);
    }

    /// The packet that was just cut requests an acknowledgement: its round trip begins now.
    void BeginRoundTrip(int64_t now)
    {
        m_roundTrips.Begin(m_psn.next - 1, now);
    }

    /// After Acknowledge: returns the round trip of the packet that acknowledgement \p psn answers,
    /// or -1 if it was not measured or a packet was sent again since.
    int64_t EndRoundTrip(uint32_t psn, int64_t now)
    {
        return m_roundTrips.End(m_psn.acked, psn, now);
    }

    /// Returns the report of the latest acknowledgement for the congestion control.
    AckReport Report(int64_t now, int64_t bytes) const
    {
        AckReport report{};
        report.now = now;
        report.roundTrip = -1;
        report.bytes = bytes;
        report.acked = m_psn.acked;
        report.next = m_psn.next;
        return report;
    }

    /// Whether there is nothing to send and nothing unacknowledged.
    bool Idle() const
    {
        return m_messages.Empty();
    }

    QueuePairPath path;
    int32_t sinceAck = 0;    //!< packets since the last that requested an acknowledgement
    bool waitsReady = false; //!< an event waits for the next message to be ready
    QueuePairTurn turn;
    QueuePairPacing pacing;
    QueuePairLossWatch lossWatch;

  private:
    void SendFrom(uint64_t psn)
    {
        m_roundTrips.Clear();
        m_window.SetSent(m_messages.Rewind(psn));
        m_psn.next = psn;
        m_psn.asked = std::min(m_psn.asked, psn);
    }

    /// Forgets repeats that are acknowledged.
    void ForgetRepeats()
    {
        for (size_t left = m_repeats.Size(); left > 0; --left)
        {
            const uint64_t psn = m_repeats.Front();
            m_repeats.Pop();
            if (psn >= m_psn.acked)
            {
                m_repeats.Push(psn);
            }
        }
    }

    Packet CutAgain()
    {
        const uint64_t psn = m_repeats.Front();
        m_repeats.Pop();
        Packet packet{};
        packet.psn = static_cast<uint32_t>(psn);
        packet.payload = static_cast<uint16_t>(m_messages.PayloadOf(psn));
        packet.endsMessage = true; // so that it is acknowledged at once
        packet.again = true;
        return packet;
    }

    // In the order in which cutting a packet uses them.
    int64_t m_mtu;
    SendWindow m_window;
    OutgoingMessages m_messages;
    SequenceNumbers m_psn;
    Fifo<uint64_t> m_repeats; //!< packets to be sent again, before any other
    RoundTripMeter m_roundTrips;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_H_
