#include "ns3-backend/model/simulator/worker-cores.h"

#include <algorithm>
#include <sched.h>

namespace ns3::rdma
{

void
WorkerCores::KeepApart(uint32_t index)
{
    const int here = sched_getcpu();
    const bool shared =
        std::any_of(m_cores.begin(), m_cores.begin() + index, [here](const Core& o) {
            return o.number.load(std::memory_order_relaxed) == here;
        });
    if (shared)
    {
        MoveAway();
    }
    m_cores[index].number.store(shared ? sched_getcpu() : here, std::memory_order_relaxed);
}

void
WorkerCores::MoveAway() const
{
    cpu_set_t allowed; // too small for very large machines: the calls below then fail, without harm
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    {
        return;
    }
    cpu_set_t free = allowed;
    for (const Core& core : m_cores)
    {
        const int taken = core.number.load(std::memory_order_relaxed);
        if (taken != NOWHERE)
        {
            CPU_CLR(taken, &free);
        }
    }
    if (CPU_COUNT(&free) > 0 && sched_setaffinity(0, sizeof(free), &free) == 0)
    {
        sched_setaffinity(0,
                          sizeof(allowed),
                          &allowed); // the thread has moved; the kernel may move it again
    }
}

} // namespace ns3::rdma
