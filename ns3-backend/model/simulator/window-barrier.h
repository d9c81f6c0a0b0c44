#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_BARRIER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_BARRIER_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace ns3::rdma
{

/**
 * \brief Where the threads of a run meet, twice a window.
 *
 * A window is microseconds of work, so a waiting thread spins first. Then it yields the core to
 * other runnable threads and looks again: on a machine with a core for each thread this costs
 * nothing, while sleeping and waking would cost as much as a window. It sleeps only when other
 * threads are very late, for example while the first thread runs windows alone.
 */
class WindowBarrier
{
  public:
    explicit WindowBarrier(uint32_t threads)
        : m_threads(threads)
    {
    }

    /// Returns when every thread has called it. Writes before the call are visible after it.
    void Wait()
    {
        if (m_threads == 1)
        {
            return;
        }
        const uint32_t phase = m_phase.load(std::memory_order_acquire);
        if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_threads)
        {
            m_arrived.store(0, std::memory_order_relaxed);
            m_phase.fetch_add(1, std::memory_order_acq_rel);
            m_phase.notify_all();
            return;
        }
        for (int spin = 0; spin < SPINS; ++spin)
        {
            if (m_phase.load(std::memory_order_acquire) != phase)
            {
                return;
            }
            Relax();
        }
        for (int turn = 0; turn < YIELDS; ++turn)
        {
            if (m_phase.load(std::memory_order_acquire) != phase)
            {
                return;
            }
            std::this_thread::yield();
        }
        while (m_phase.load(std::memory_order_acquire) == phase)
        {
            m_phase.wait(phase, std::memory_order_acquire);
        }
    }

  private:
    static constexpr int SPINS = 4000;
    static constexpr int YIELDS = 1000;

    static void Relax()
    {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    const uint32_t m_threads;
    alignas(64) std::atomic<uint32_t> m_arrived{0};
    alignas(64) std::atomic<uint32_t> m_phase{0};
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_BARRIER_H_
