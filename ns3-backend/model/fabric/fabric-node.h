#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_NODE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_NODE_H_

#include "ns3-backend/model/attributes/transport-attributes.h"
#include "ns3-backend/model/fabric/class-scheduler.h"
#include "ns3-backend/model/fabric/egress.h"
#include "ns3-backend/model/fabric/fabric-port.h"
#include "ns3-backend/model/fabric/node-timers.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/wire/draws.h"
#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/fifo.h"
#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/model/wire/pause-table.h"
#include "ns3-backend/model/wire/port-times.h"
#include "ns3-backend/model/wire/telemetry.h"

#include "ns3/node.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A node of the fabric: ports, their events and their links. The base of hosts and switches.
 *
 * Port number p is the p-th cable of the node in the Topology. A port has at most two pending
 * events for any number of frames: the next arrival (frames in flight wait in the link's queue) and
 * the end of the current transmission (only if a frame waits behind it: a frame that finds its port
 * idle is sent without an event).
 */
class FabricNode : public Node, public Partition
{
  public:
    static TypeId GetTypeId();
    /// \p header is the number of bytes on the wire around a payload, \p ack the size of an
    /// acknowledgement.
    void Connect(const FabricMap* map, uint32_t node, int64_t header, int64_t ack);
    /// Connects \p port to the node at the other end of its cable.
    void SetPeer(uint16_t port, FabricNode* peer);
    /// Finds the devices that have a trace sink and the threads of the mailboxes' receivers.
    void Start() override;
    /// Takes \p frames, which are in flight to \p port, with the \p telemetry of the frames
    /// that have it.
    void Accept(uint16_t port, std::vector<Frame>& frames, std::vector<Telemetry>& telemetry);
    /// Accept for frames from another process; \p name is the port.
    void Receive(uint32_t name, drydock::Unpacker& parcel) override;

    int64_t LocalTime() const override
    {
        return m_now;
    }

    uint32_t GetWeight() const override
    {
        return static_cast<uint32_t>(m_egress.size()) + 1;
    }

    uint16_t GetNPorts() const
    {
        return static_cast<uint16_t>(m_egress.size());
    }

    const Egress& GetEgress(uint16_t port) const
    {
        return m_egress[port];
    }

    /// Returns the time up to \p now in which the peer of \p port had paused at least one class,
    /// ps.
    int64_t GetPausedTime(uint16_t port, int64_t now) const
    {
        return m_pauses.GetPausedTime(port, now);
    }

    uint64_t GetEventCount() const
    {
        return m_eventCount;
    }

    /// Why and when this node ended the run; without a text if it did not.
    struct Failure
    {
        std::string text;
        int64_t time = NEVER;
    };

    // Faults call these functions between windows.

    /// The map has a new rate for the cable of \p port.
    void UpdateRate(uint16_t port);
    /// Frames that are on the cable of \p port, or enter it before Mend, are lost.
    void Cut(uint16_t port);
    void Mend(uint16_t port, int64_t now);
    /// From now on a bit that arrives by \p port is wrong with probability \p bitErrors.
    void SetBitErrors(uint16_t port, double bitErrors);

    /// Returns the number of frames to this node that faults have lost.
    uint64_t GetNLost() const
    {
        return m_lost;
    }

    const Failure& GetFailure() const
    {
        return m_failure;
    }

  protected:
    /// Ends the run with this window. The first call decides the text.
    void Fail(const std::string& text);

    void SetTimer(int64_t time, EventKind kind, uint32_t number)
    {
        m_timers.Set(time, kind, number);
    }

    /// Returns the time of the earliest event, or NEVER.
    int64_t NextEvent() const
    {
        return std::min(m_portTimes.GetTime(), m_timers.GetTime());
    }

    /**
     * Runs the earliest event. \p self is this node by its own type and provides
     * - void Arrive(uint16_t port, Frame&)
     * - bool Next(uint16_t port, Frame*): takes the frame to send now, if there is one
     * - bool Waiting(uint16_t port): whether Next would return true
     * - void Timer(EventKind, uint32_t number): any other event
     */
    template <typename Self>
    void RunEvent(Self& self)
    {
        ++m_eventCount;
        if (m_timers.GetTime() < m_portTimes.GetTime())
        {
            const NodeTimers::Event event = m_timers.Pop();
            m_now = event.time;
            self.Timer(event.kind, event.number);
            return;
        }
        m_now = m_portTimes.GetTime();
        const uint32_t slot = m_portTimes.GetSlot();
        if (slot < m_egress.size())
        {
            TakeArrival(self, static_cast<uint16_t>(slot));
        }
        else
        {
            SendNext(self, static_cast<uint16_t>(slot - m_egress.size()));
        }
    }

    /// ARRIVAL
    template <typename Self>
    void TakeArrival(Self& self, uint16_t port)
    {
        Fifo<Frame>& arriving = m_arriving[port];
        Frame frame = arriving.Front();
        arriving.Pop();
        m_portTimes.Set(port, arriving.Empty() ? NEVER : arriving.Front().time);
        if (frame.flags & Frame::INT) [[unlikely]]
        {
            m_carried = m_arrivingTelemetry[port].Front();
            m_arrivingTelemetry[port].Pop();
        }
        if (!m_impairments.empty() && Loses(port, frame)) [[unlikely]]
        {
            ++m_lost;
            return;
        }
        self.Arrive(port, frame);
    }

    /// TRANSMIT
    template <typename Self>
    void SendNext(Self& self, uint16_t port)
    {
        Egress& egress = m_egress[port];
        Frame frame;
        const bool sent = self.Next(port, &frame);
        if (sent)
        {
            Transmit(egress, frame);
        }
        egress.pending = sent && self.Waiting(port);
        SetTransmit(port, egress.pending ? egress.freeAt : NEVER);
    }

    void SetTransmit(uint16_t port, int64_t time)
    {
        m_portTimes.Set(static_cast<uint32_t>(m_egress.size()) + port, time);
    }

    /// A frame may wait at \p port: sends it if the port is free, else sets an event that does.
    template <typename Self>
    void Kick(Self& self, uint16_t port)
    {
        Egress& egress = m_egress[port];
        if (egress.pending)
        {
            return;
        }
        Frame frame;
        if (m_now >= egress.freeAt)
        {
            if (!self.Next(port, &frame))
            {
                return;
            }
            Transmit(egress, frame);
        }
        if (self.Waiting(port))
        {
            Await(egress, port);
        }
    }

    /// Sets an event for when the port is free.
    void Await(Egress& egress, uint16_t port)
    {
        egress.pending = true;
        SetTransmit(port, egress.freeAt);
    }

    /// Puts \p frame on the wire, now.
    void Transmit(Egress& egress, Frame frame)
    {
        const int64_t size = SizeOf(frame);
        const int64_t occupancy = egress.Occupancy(size);
        // Its last bit may not have arrived yet (cut-through) and cannot leave sooner.
        egress.freeAt = std::max(m_now + occupancy, frame.time);
        const int64_t held = egress.head == 0 ? occupancy : std::min(occupancy, egress.head);
        frame.time = egress.freeAt - occupancy + held + egress.delay;
        egress.busy += occupancy;
        ++egress.frames;
        egress.bytes += static_cast<uint64_t>(size);
        LinkMailbox* mailbox = egress.mailbox;
        if (mailbox->frames.empty())
        {
            Post(mailbox);
        }
        mailbox->frames.push_back(frame);
        if (frame.flags & Frame::INT) [[unlikely]]
        {
            mailbox->telemetry.push_back(m_carried);
        }
        if (egress.listener != nullptr) [[unlikely]]
        {
            egress.listener->TraceTransmit(frame, m_now);
        }
    }

    /// Returns the bytes of a frame on the wire.
    int64_t SizeOf(const Frame& frame) const
    {
        return frame.IsControl() ? m_ackSize : m_headerSize + frame.payload;
    }

    /// A PAUSE has arrived by \p port: its class is paused, or resumes at once.
    template <typename Self>
    void ArrivePause(Self& self, uint16_t port, const Frame& frame)
    {
        const int64_t until = m_pauses.Set(port, frame, m_now, m_egress[port]);
        if (m_pauses.HeldFor(port, frame.priority, m_now) >= m_pauseWatchdog.GetTimeStep())
        {
            FailPaused(port, frame.priority);
        }
        if (until > m_now)
        {
            SetTimer(until, PAUSE_END, port);
        }
        else
        {
            Kick(self, port);
        }
    }

    /// PAUSE_END: classes whose pause is over resume.
    template <typename Self>
    void EndPause(Self& self, uint16_t port)
    {
        if (m_pauses.Expire(port, m_now, m_egress[port]))
        {
            Kick(self, port);
        }
    }

    /// Sets Egress::head of \p port.
    void SetHead(uint16_t port);
    void FailPaused(uint16_t port, uint8_t priority);
    /// Whether a fault loses \p frame, which arrives by \p port.
    bool Loses(uint16_t port, const Frame& frame);

    /// Makes the scheduler of this node's ports from its attributes; \p largestFrame in bytes.
    ClassScheduler MakeScheduler(int64_t largestFrame) const;

    PortTimes m_portTimes; //!< ARRIVAL of port p is slot p; TRANSMIT has the following slots
    NodeTimers m_timers;   //!< events of the other kinds
    PauseTable m_pauses;
    int64_t m_now = 0;
    std::vector<Egress> m_egress;
    const FabricMap* m_map = nullptr;
    uint32_t m_node = 0; //!< number in the map
    /// The telemetry of the frame that has just arrived or is about to be sent, if it has
    /// Frame::INT.
    Telemetry m_carried;

  private:
    std::vector<Fifo<Frame>> m_arriving;              //!< by port, in order of time
    std::vector<Fifo<Telemetry>> m_arrivingTelemetry; //!< by port, of frames with Frame::INT
    std::vector<std::unique_ptr<LinkMailbox>> m_mailboxes;
    int64_t m_headerSize = 0;
    int64_t m_ackSize = 0;
    uint64_t m_eventCount = 0;
    /// What faults do to frames that arrive by a port.
    struct Impairment
    {
        int64_t lostUntil = 0; //!< frames that would arrive before this are lost
        double bitErrors = 0;
        Draws draws;
    };

    std::vector<Impairment>& GetImpairments();

    template <size_t Class>
    void SetClassWeight(uint32_t weight)
    {
        m_weights[Class] = weight;
    }

    template <size_t Class>
    uint32_t GetClassWeight() const
    {
        return m_weights[Class];
    }

    template <size_t... Classes>
    static std::vector<AttributeMember> AttributeMembers(std::index_sequence<Classes...> classes);

    std::vector<Impairment> m_impairments; //!< by port; empty until the first fault of the node
    uint64_t m_lost = 0;
    Failure m_failure;
    ns3::Time m_pauseWatchdog; //!< attribute
    ClassWeights m_weights{};  //!< attributes
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_NODE_H_
