#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_NODE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_NODE_H_

#include "ns3-backend/model/fabric/class-scheduler.h"
#include "ns3-backend/model/wire/draws.h"
#include "ns3-backend/model/fabric/egress.h"
#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/fabric/fabric-port.h"
#include "ns3-backend/model/wire/fifo.h"
#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/wire/pause-table.h"
#include "ns3-backend/model/wire/port-times.h"
#include "ns3-backend/model/wire/telemetry.h"

#include "core/containers/event_heap.h"

#include "ns3/node.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A node of the fabric: ports, their events and their links. Host or switch derive from it.
 *
 * Port number p is the p-th cable of the node in the Topology. A port has at most two pending
 * events, whatever the number of frames: the next arrival (frames in flight wait in the link's
 * queue) and the end of the current transmission (only while something waits behind it: a frame
 * that finds its port idle is sent without an event).
 */
class FabricNode : public Node, public Partition
{
  public:
    static TypeId GetTypeId();
    /// \p header and \p ack are the sizes on the wire around a payload and of an acknowledgement.
    void Connect(const FabricMap* map, uint32_t node, int64_t header, int64_t ack);
    /// Ends the wiring of one port.
    void SetPeer(uint16_t port, FabricNode* peer);
    /// Looks which devices have a trace sink and where mailboxes go.
    void Start() override;
    /// Frames that have come in by \p port; takes them.
    void Accept(uint16_t port, std::vector<Frame>& frames, std::vector<Telemetry>& telemetry);
    /// The same, from another process; \p name is the port.
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

    /// How long the other end of \p port has kept some class from being sent, by \p now, ps.
    int64_t GetPausedTime(uint16_t port, int64_t now) const
    {
        return m_pauses.GetPausedTime(port, now);
    }

    uint64_t GetEventCount() const
    {
        return m_eventCount;
    }

    /// Why and when this node asked for the run to end; no text if it did not.
    struct Failure
    {
        std::string text;
        int64_t time = NEVER;
    };

    // What faults do, between windows.

    /// The cable of \p port runs at another rate from now on; it has been set in the map.
    void UpdateRate(uint16_t port);
    /// Nothing that is on the cable of \p port, or is put there before Mend, arrives.
    void Cut(uint16_t port);
    void Mend(uint16_t port, int64_t now);
    /// From now on a bit that comes in by \p port is wrong with the chance \p bitErrors.
    void SetBitErrors(uint16_t port, double bitErrors);

    /// Frames that faults have lost on their way here.
    uint64_t GetNLost() const
    {
        return m_lost;
    }

    const Failure& GetFailure() const
    {
        return m_failure;
    }

  protected:
    /// Ends the run with this window. The first text counts.
    void Fail(const std::string& text);
    /// Kinds of events, in their order at one time.
    enum Kind : uint8_t
    {
        ARRIVAL = 0,    //!< of a frame; number = port
        TRANSMIT = 1,   //!< the port is free and something waits; number = port
        READY = 2,      //!< a message has reached the NIC; number = queue pair
        PACE = 3,       //!< the rate of a queue pair allows its next packet; number = queue pair
        RETRY = 4,      //!< an acknowledgement may be overdue; number = queue pair
        PAUSE_END = 5,  //!< the other end's pause may have run out; number = port
        PAUSE_RENEW = 6 //!< this end's pause would run out; number = port
    };

    /// An event that is not of a port alone, or rare.
    struct TimerEvent
    {
        int64_t time; //!< ps
        Kind kind;
        uint32_t number;

        bool operator<(const TimerEvent& o) const
        {
            return std::tie(time, kind, number) < std::tie(o.time, o.kind, o.number);
        }
    };

    void SetTimer(int64_t time, Kind kind, uint32_t number)
    {
        m_timers.Push({time, kind, number});
    }

    /// Time of the earliest event, NEVER if there is none.
    int64_t NextEvent() const
    {
        return m_timers.empty() ? m_portTimes.GetTime()
                                : std::min(m_portTimes.GetTime(), m_timers.top().time);
    }

    /**
     * Runs the earliest event. \p self is this node by its own type and provides
     * - void Arrive(uint16_t port, Frame&)
     * - bool Next(uint16_t port, Frame*): what to send now, if anything
     * - bool Waiting(uint16_t port): whether Next would find something
     * - void Timer(Kind, uint32_t number): any other event
     */
    template <typename Self>
    void RunEvent(Self& self)
    {
        ++m_eventCount;
        if (!m_timers.empty() && m_timers.top().time < m_portTimes.GetTime())
        {
            const TimerEvent event = m_timers.Pop();
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

    /// Something waits at \p port: sends it if the port is free, else sees that it will be sent.
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

    /// An event for when the port is free.
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
        // Its last bit may still be on its way here (cut-through): it leaves no sooner.
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

    /// Bytes a frame occupies a link with.
    int64_t SizeOf(const Frame& frame) const
    {
        return frame.IsControl() ? m_ackSize : m_headerSize + frame.payload;
    }

    /// A PAUSE has come in by \p port: its class stops for a while, or goes on at once.
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

    /// PAUSE_END: what has run out may be sent again.
    template <typename Self>
    void EndPause(Self& self, uint16_t port)
    {
        if (m_pauses.Expire(port, m_now, m_egress[port]))
        {
            Kick(self, port);
        }
    }

    /// How long the other end of \p port waits before it passes a frame on.
    void SetHead(uint16_t port);
    void FailPaused(uint16_t port, uint8_t priority);
    /// Whether a fault loses \p frame, which comes in by \p port.
    bool Loses(uint16_t port, const Frame& frame);

    /// What shares out the ports of this node, by its attributes; \p largestFrame in bytes.
    ClassScheduler MakeScheduler(int64_t largestFrame) const;

    PortTimes m_portTimes; //!< ARRIVAL of port p: slot p; TRANSMIT: that of slots behind these
    drydock::EventHeap<TimerEvent> m_timers; //!< of the other kinds
    PauseTable m_pauses;
    int64_t m_now = 0;
    std::vector<Egress> m_egress;
    const FabricMap* m_map = nullptr;
    uint32_t m_node = 0; //!< number in the map
    /// Beside the frame that has just arrived, or is about to be sent, if that has Frame::INT.
    Telemetry m_carried;

  private:
    std::vector<Fifo<Frame>> m_arriving;              //!< by port, in order of time
    std::vector<Fifo<Telemetry>> m_arrivingTelemetry; //!< likewise, of those with Frame::INT
    std::vector<std::unique_ptr<LinkMailbox>> m_mailboxes;
    int64_t m_headerSize = 0;
    int64_t m_ackSize = 0;
    uint64_t m_eventCount = 0;
    /// What faults have made of the cable of a port, on the way here.
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
    static TypeId AddWeights(TypeId tid, std::index_sequence<Classes...> classes);

    std::vector<Impairment> m_impairments; //!< by port; empty while no fault has touched the node
    uint64_t m_lost = 0;
    Failure m_failure;
    ns3::Time m_pauseWatchdog; //!< attribute
    ClassWeights m_weights{};  //!< attributes
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_NODE_H_
