#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_NODE_TIMERS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_NODE_TIMERS_H_

#include "ns3-backend/model/wire/frame.h"

#include "core/containers/event_heap.h"

#include <cstdint>
#include <tuple>

namespace ns3::rdma
{

/// Kinds of events of a node, in their order at one time.
enum EventKind : uint8_t
{
    ARRIVAL = 0,    //!< of a frame; number = port
    TRANSMIT = 1,   //!< the port is free and frames wait; number = port
    READY = 2,      //!< a message has reached the NIC; number = queue pair
    PACE = 3,       //!< the rate of a queue pair allows its next packet; number = queue pair
    RETRY = 4,      //!< an acknowledgement may be overdue; number = queue pair
    PAUSE_END = 5,  //!< the pause that the peer of a port requested may be over; number = port
    PAUSE_RENEW = 6 //!< the pause that this node requested is about to end; number = port
};

/**
 * \brief Events of a node that are not tied to one port, or that are rare. Times in ps.
 *
 * ARRIVAL and TRANSMIT, of which each port has at most one, are in PortTimes instead.
 */
class NodeTimers
{
  public:
    struct Event
    {
        int64_t time;
        EventKind kind;
        uint32_t number;

        bool operator<(const Event& o) const
        {
            return std::tie(time, kind, number) < std::tie(o.time, o.kind, o.number);
        }
    };

    void Set(int64_t time, EventKind kind, uint32_t number)
    {
        m_events.Push({time, kind, number});
    }

    /// Returns the time of the earliest event, or NEVER.
    int64_t GetTime() const
    {
        return m_events.empty() ? NEVER : m_events.top().time;
    }

    /// Removes and returns the earliest event.
    /// REQUIRES: there is one.
    Event Pop()
    {
        return m_events.Pop();
    }

  private:
    drydock::EventHeap<Event> m_events;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_NODE_TIMERS_H_
