#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_CONTROL_EVENTS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_CONTROL_EVENTS_H_

#include "ns3/event-id.h"
#include "ns3/event-impl.h"

#include <cstdint>
#include <list>
#include <map>
#include <utility>

namespace ns3::rdma
{

/**
 * \brief The events of ns-3 itself, which Simulator::Schedule adds.
 *
 * They run on one thread while every partition waits at that time, in order of (time, order of
 * scheduling). They are for changes to the whole model: initialization, a link that fails at a
 * given time, a statistic that is sampled periodically. Packets never become such events.
 *
 * Not thread-safe. Owns its events.
 */
class ControlEvents
{
  public:
    ~ControlEvents();
    /// Adds \p event (takes the reference) at absolute time \p time, ps.
    EventId Insert(uint64_t time, uint32_t context, EventImpl* event);
    EventId InsertDestroy(EventImpl* event);
    /// Removes an event that has not run yet.
    void Remove(const EventId& id);
    bool IsExpired(const EventId& id) const;
    /// Returns the time of the earliest event, or NEVER.
    int64_t NextTime() const;
    /// Runs every event at NextTime(), including events that are added for the same time meanwhile.
    void RunNextTime();
    /// Runs the events of Simulator::ScheduleDestroy, in order of scheduling.
    void RunDestroy();
    /// Drops the events that have not run.
    void Clear();

    int64_t Now() const
    {
        return static_cast<int64_t>(m_now);
    }

    /// Moves the clock to the time of the partitions, if they are ahead.
    void AdvanceTo(int64_t time);

    uint32_t GetContext() const
    {
        return m_context;
    }

    uint64_t GetCount() const
    {
        return m_count;
    }

  private:
    using Key = std::pair<uint64_t, uint32_t>; //!< time, uid

    struct Pending
    {
        uint32_t context;
        EventImpl* event;
    };

    std::map<Key, Pending> m_events;
    std::list<EventId> m_destroy;
    uint64_t m_now = 0;
    uint32_t m_uid = EventId::UID::VALID;
    uint32_t m_context = 0xffffffff; //!< Simulator::NO_CONTEXT
    uint64_t m_count = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_CONTROL_EVENTS_H_
