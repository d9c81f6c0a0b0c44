#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_HOST_CALLS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_HOST_CALLS_H_

#include "core/network/network.h"
#include "ns3-backend/model/wire/frame.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief The pending callbacks of one host's actor, in the order that network.h states.
 *
 * Callbacks are in order of time. At one time, timers come before deliveries and deliveries before
 * sent notices; timers are ordered by id, messages by (source host, id). Times in ps. A timer that
 * is moved leaves a stale entry, which is skipped.
 */
class HostCalls
{
  public:
    enum Kind : uint8_t
    {
        TIMER,
        DELIVERED,
        SENT,
    };

    struct Call
    {
        int64_t time;
        Kind kind;
        drydock::HostId source; //!< of the message; 0 for a timer
        uint64_t id;
        uint32_t slot; //!< of the message
    };

    /// Sets or moves timer \p id.
    void SetTimer(int64_t time, drydock::TimerId id);
    /// \p kind is DELIVERED or SENT.
    void Add(Kind kind, int64_t time, const drydock::Message& message);
    /// Returns the time of the earliest callback, or NEVER.
    int64_t NextTime() const
    {
        return m_heap.empty() ? NEVER : m_heap.front().time;
    }

    /// Removes and returns the earliest callback. Sets \p message unless it is a timer.
    /// REQUIRES: there is one.
    Call Pop(drydock::Message* message);

  private:
    void Push(const Call& call);
    /// Removes the earliest entry.
    Call PopTop();
    /// Removes stale timers in front, so that the earliest entry is valid.
    void DropStale();

    std::vector<Call> m_heap;
    std::unordered_map<drydock::TimerId, int64_t> m_timers; //!< when each pending one is due
    std::vector<drydock::Message> m_messages;               //!< by slot
    std::vector<uint32_t> m_freeSlots;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_HOST_CALLS_H_
