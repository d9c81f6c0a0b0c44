#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_H_

#include "exec-engine/network/network.h"
#include "ns3-backend/model/congestion/congestion-control.h"
#include "ns3-backend/model/wire/fifo.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace ns3::rdma
{

/// What names a queue pair at its sending host.
struct QueuePairName
{
    drydock::HostId destination;
    int16_t sourceNic;
    int16_t destinationNic;
    uint32_t flow;

    bool operator==(const QueuePairName&) const = default;
};

/**
 * \brief The sending half of a queue pair: messages in order, cut into packets, not yet all
 * acknowledged.
 *
 * A message counts as in flight, byte by byte, from when a packet of it is cut until the
 * acknowledgement of that packet is back. Packets are full (one MTU) except the last of a message.
 */
class QueuePair
{
  public:
    /// A message that is not wholly acknowledged.
    struct Outgoing
    {
        drydock::Message message;
        int64_t ready;     //!< when its bytes are at the NIC, ps
        uint64_t firstPsn; //!< sequence number of its first packet, not wrapped
        uint64_t packets;
    };

    QueuePair(uint32_t fromLink,
              uint32_t toLink,
              uint32_t pathHash,
              uint16_t hostPort,
              int64_t mtu,
              int64_t window)
        : from(fromLink),
          to(toLink),
          path(pathHash),
          port(hostPort),
          m_mtu(mtu),
          m_ownWindow(window),
          m_window(window)
    {
    }

    /// \p ready does not decrease from message to message.
    void Add(const drydock::Message& message, int64_t ready)
    {
        const auto packets = static_cast<uint64_t>((message.size.count() + m_mtu - 1) / m_mtu);
        m_messages.Push(Outgoing{message, ready, m_endPsn, packets});
        m_endPsn += packets;
    }

    /// Releases messages up to time \p now. When the next one is ready, or -1 if there is none.
    int64_t Release(int64_t now)
    {
        while (m_released < m_messages.Size() && m_messages[m_released].ready <= now)
        {
            ++m_released;
        }
        return m_released < m_messages.Size() ? m_messages[m_released].ready : -1;
    }

    /// Whether a packet is ready and the window has room for it. One that is sent again has been
    /// counted; and one always has, of those that are not acknowledged and make the receiver speak:
    /// where a window shrinks below what is under way, perhaps none of that does.
    bool CanSend() const
    {
        return !m_resend.Empty() ||
               (m_sending < m_released && (WindowTakes(NextPayload()) || m_askedPsn <= m_ackedPsn));
    }

    /// The packet \p psn, which was just cut, asks for an acknowledgement.
    void Ask(uint32_t psn)
    {
        const uint64_t whole = m_ackedPsn + (psn - static_cast<uint32_t>(m_ackedPsn));
        m_askedPsn = std::max(m_askedPsn, whole + 1);
    }

    /// A packet to send; CanSend.
    struct Packet
    {
        uint32_t psn;
        uint16_t payload;
        bool endsMessage;
        bool fillsWindow; //!< no further one can be sent before an acknowledgement
        bool again;       //!< it was sent before
    };

    Packet Cut()
    {
        if (!m_resend.Empty())
        {
            return CutAgain();
        }
        const int64_t payload = NextPayload();
        Packet packet{};
        packet.psn = static_cast<uint32_t>(m_nextPsn++);
        packet.again = m_nextPsn <= m_mostPsn;
        m_mostPsn = std::max(m_mostPsn, m_nextPsn);
        packet.payload = static_cast<uint16_t>(payload);
        m_cut += payload;
        m_sentBytes += payload;
        packet.endsMessage = m_cut == m_messages[m_sending].message.size.count();
        if (packet.endsMessage)
        {
            m_cut = 0;
            ++m_sending;
        }
        packet.fillsWindow = !WindowTakes(m_mtu);
        return packet;
    }

    /**
     * The receiver has every packet before \p psn. Calls \p done with each message that is now
     * wholly acknowledged, in order.
     */
    template <typename Done>
    void Acknowledge(uint32_t psn, Done done)
    {
        const auto progress = static_cast<int32_t>(psn - static_cast<uint32_t>(m_ackedPsn));
        if (progress <= 0)
        {
            return; // overtaken
        }
        m_ackedPsn += static_cast<uint32_t>(progress);
        while (!m_messages.Empty() &&
               m_messages.Front().firstPsn + m_messages.Front().packets <= m_ackedPsn)
        {
            m_doneBytes += m_messages.Front().message.size.count();
            done(m_messages.Front().message);
            m_messages.Pop();
            m_sending -= m_sending > 0 ? 1 : 0;
            --m_released;
        }
        m_ackedBytes = m_doneBytes + AckedOfFirst();
        if (m_nextPsn < m_ackedPsn)
        {
            SendFrom(m_ackedPsn); // it had gone back too far
        }
        ForgetRepeats();
    }

    /// Go-back-N: \p psn is the next to be sent, if it was sent and is not acknowledged by now.
    void GoBack(uint32_t psn)
    {
        const uint64_t whole = m_ackedPsn + (psn - static_cast<uint32_t>(m_ackedPsn));
        if (whole < m_nextPsn)
        {
            SendFrom(whole);
        }
    }

    /// Selective repeat: \p psn alone is to be sent again, if it is not acknowledged by now.
    void Repeat(uint32_t psn)
    {
        const uint64_t whole = m_ackedPsn + (psn - static_cast<uint32_t>(m_ackedPsn));
        if (whole < m_nextPsn)
        {
            m_resend.Push(whole);
            ForgetStamps();
        }
    }

    uint32_t GetAckedPsn() const
    {
        return static_cast<uint32_t>(m_ackedPsn);
    }

    /// What `controller` allows to be in flight, bytes.
    void Limit(int64_t window)
    {
        m_window = std::min(m_ownWindow, window);
    }

    int64_t GetAckedBytes() const
    {
        return m_ackedBytes;
    }

    /// The packet that was just cut asks for an acknowledgement: its round trip begins now.
    void Stamp(int64_t now)
    {
        m_stamped.Push({m_nextPsn - 1, now});
    }

    /// After Acknowledge: the round trip of the packet whose acknowledgement \p psn is, -1 if it
    /// was not stamped or something was sent again since.
    int64_t TakeRoundTrip(uint32_t psn, int64_t now)
    {
        int64_t roundTrip = -1;
        while (!m_stamped.Empty() && m_stamped.Front().psn < m_ackedPsn)
        {
            const Stamped& first = m_stamped.Front();
            roundTrip = static_cast<uint32_t>(first.psn + 1) == psn ? now - first.time : -1;
            m_stamped.Pop();
        }
        return roundTrip;
    }

    /// What the acknowledgement that was just taken tells `controller`.
    AckReport Report(int64_t now, int64_t bytes) const
    {
        AckReport report{};
        report.now = now;
        report.roundTrip = -1;
        report.bytes = bytes;
        report.acked = m_ackedPsn;
        report.next = m_nextPsn;
        return report;
    }

    /// Nothing to send and nothing unacknowledged.
    bool Idle() const
    {
        return m_messages.Empty();
    }

    uint32_t from;        //!< link from the NIC
    uint32_t to;          //!< link to the peer's NIC
    const uint32_t path;  //!< hash for the choice among equal ways
    uint16_t port;        //!< of the host
    bool active = false;  //!< in the port's round; only while CanSend
    bool armed = false;   //!< an event waits for the next message to be ready
    int32_t sinceAck = 0; //!< packets since the last that asked for an acknowledgement
    int64_t credit = 0;   //!< bytes left of its turn, where turns are counted in bytes

    std::unique_ptr<FlowController> controller; //!< nothing without congestion control
    int64_t allowedAt = 0;                      //!< when its rate allows the next packet, ps
    bool paced = false;                         //!< an event waits for that
    bool retrying = false;                      //!< an event looks for overdue acknowledgements
    uint32_t retries = 0;                       //!< timeouts since the last progress
    int64_t lastProgress = 0; //!< last acknowledgement, or first packet after idleness, ps

  private:
    struct Stamped
    {
        uint64_t psn;
        int64_t time; //!< when it was sent, ps
    };

    /// Bytes of the first message that are acknowledged.
    int64_t AckedOfFirst() const
    {
        const bool some = !m_messages.Empty() && m_messages.Front().firstPsn < m_ackedPsn;
        return some ? static_cast<int64_t>(m_ackedPsn - m_messages.Front().firstPsn) * m_mtu : 0;
    }

    void SendFrom(uint64_t psn)
    {
        ForgetStamps();
        m_sending = 0;
        m_sentBytes = m_doneBytes;
        while (m_sending < m_messages.Size() &&
               m_messages[m_sending].firstPsn + m_messages[m_sending].packets <= psn)
        {
            m_sentBytes += m_messages[m_sending].message.size.count();
            ++m_sending;
        }
        const bool within = m_sending < m_messages.Size();
        m_cut = within ? static_cast<int64_t>(psn - m_messages[m_sending].firstPsn) * m_mtu : 0;
        m_sentBytes += m_cut;
        m_nextPsn = psn;
        m_askedPsn = std::min(m_askedPsn, psn);
    }

    /// An acknowledgement could be that of a packet's first or of its second way (Karn).
    void ForgetStamps()
    {
        while (!m_stamped.Empty())
        {
            m_stamped.Pop();
        }
    }

    void ForgetRepeats()
    {
        for (size_t left = m_resend.Size(); left > 0; --left)
        {
            const uint64_t psn = m_resend.Front();
            m_resend.Pop();
            if (psn >= m_ackedPsn)
            {
                m_resend.Push(psn);
            }
        }
    }

    Packet CutAgain()
    {
        const uint64_t psn = m_resend.Front();
        m_resend.Pop();
        size_t i = 0;
        while (m_messages[i].firstPsn + m_messages[i].packets <= psn)
        {
            ++i;
        }
        const Outgoing& outgoing = m_messages[i];
        const int64_t before = static_cast<int64_t>(psn - outgoing.firstPsn) * m_mtu;
        Packet packet{};
        packet.psn = static_cast<uint32_t>(psn);
        packet.payload =
            static_cast<uint16_t>(std::min(m_mtu, outgoing.message.size.count() - before));
        packet.endsMessage = true; // so that it is acknowledged at once
        packet.again = true;
        return packet;
    }

    int64_t NextPayload() const
    {
        return std::min(m_mtu, m_messages[m_sending].message.size.count() - m_cut);
    }

    bool WindowTakes(int64_t payload) const
    {
        const int64_t inFlight = m_sentBytes - m_ackedBytes;
        return inFlight == 0 || inFlight + payload <= m_window;
    }

    int64_t m_mtu;
    int64_t m_ownWindow; //!< bytes that may be in flight whatever the congestion control
    int64_t m_window;    //!< bytes that may be in flight
    Fifo<Outgoing> m_messages;
    size_t m_released = 0; //!< how many of m_messages are ready
    size_t m_sending = 0;  //!< the one of m_messages that is being cut
    int64_t m_cut = 0;     //!< how many bytes of it are
    uint64_t m_nextPsn = 0;
    uint64_t m_mostPsn = 0; //!< behind the last packet that was ever sent
    uint64_t m_endPsn = 0;  //!< of the messages added so far
    uint64_t m_ackedPsn = 0;
    uint64_t m_askedPsn = 0; //!< behind the last packet that asked for an acknowledgement
    Fifo<Stamped> m_stamped; //!< packets whose round trip is measured
    Fifo<uint64_t> m_resend; //!< packets to be sent again, before any other
    int64_t m_sentBytes = 0;
    int64_t m_ackedBytes = 0;
    int64_t m_doneBytes = 0; //!< of messages that are wholly acknowledged
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_H_
