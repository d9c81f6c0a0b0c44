#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_HOST_CALLS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_HOST_CALLS_H_

#include "exec-engine/network/network.h"
#include "ns3-backend/model/wire/frame.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief The pending callbacks of one host's actor, in the order network.h promises.
 *
 * By time, then timers before deliveries before sent notices; timers by id, messages by (source
 * host, id). Times in ps. A timer that is moved leaves an entry behind that is skipped.
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
    /// NEVER if there is none.
    int64_t NextTime() const
    {
        return m_heap.empty() ? NEVER : m_heap.front().time;
    }

    /// Removes the earliest; there must be one. \p message is set unless it is a timer.
    Call Pop(drydock::Message* message);

  private:
    void Push(const Call& call);
    /// Removes the earliest entry.
    Call PopTop();
    /// Skips timers that were moved, so that the earliest entry is real.
    void DropStale();

    std::vector<Call> m_heap;
    std::unordered_map<drydock::TimerId, int64_t> m_timers; //!< when each pending one is due
    std::vector<drydock::Message> m_messages;               //!< by slot
    std::vector<uint32_t> m_freeSlots;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_HOST_CALLS_H_
