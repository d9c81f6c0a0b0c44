#ifndef DRYDOCK_NS3_BACKEND_WINDOW_PACER_H
#define DRYDOCK_NS3_BACKEND_WINDOW_PACER_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief Decides whether the next windows are worth waking the other threads for.
 *
 * A window of a few events is over sooner than two barriers are, and on a machine whose cores are
 * busy with other things a barrier costs a turn of the scheduler. So the cost of an event is
 * measured both ways, over and over: most of the time in the way that was cheaper, every so often
 * for about a millisecond in the other. The more often the choice is confirmed, the rarer the
 * comparison. Who runs a window changes no result, so neither does the clock that is read here.
 */
class WindowPacer
{
  public:
    using Clock = int64_t (*)();

    /// With one thread there is nothing to decide.
    explicit WindowPacer(uint32_t threads, Clock clock = &SteadyNanoseconds)
        : m_single(threads == 1),
          m_clock(clock),
          m_begin(m_single ? 0 : clock())
    {
    }

    /// Whether all threads share the next window, or the first runs it alone.
    bool Together() const
    {
        return m_together;
    }

    /// A window with \p events events is over.
    void Account(uint64_t events)
    {
        if (m_single)
        {
            return;
        }
        m_events += events;
        if (!m_together && ++m_unread < WINDOWS_PER_READING)
        {
            return; // reading the clock would cost as much as a small window
        }
        m_unread = 0;
        const int64_t now = m_clock();
        if (m_events >= EPOCH_EVENTS || now - m_begin >= EPOCH_NANOSECONDS)
        {
            const double cost = static_cast<double>(now - m_begin) /
                                static_cast<double>(std::max<uint64_t>(m_events, 1));
            EndEpoch(cost);
            m_begin = now;
            m_events = 0;
        }
    }

  private:
    static constexpr uint64_t EPOCH_EVENTS = 20'000;
    static constexpr int64_t EPOCH_NANOSECONDS = 1'000'000;
    static constexpr uint32_t WINDOWS_PER_READING = 16;
    static constexpr uint32_t LEAST_PATIENCE = 4;
    static constexpr uint32_t MOST_PATIENCE = 256;

    static int64_t SteadyNanoseconds()
    {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }

    void EndEpoch(double cost)
    {
        if (!m_comparing)
        {
            m_cost = cost;
            if (--m_left == 0)
            {
                m_comparing = true;
                m_together = !m_together;
            }
            return;
        }
        m_comparing = false;
        if (cost < m_cost)
        {
            m_patience = LEAST_PATIENCE; // the other way it is
        }
        else
        {
            m_together = !m_together;
            m_patience = std::min(2 * m_patience, MOST_PATIENCE);
        }
        m_left = m_patience;
    }

    const bool m_single;
    const Clock m_clock;
    bool m_together = false;
    bool m_comparing = false; //!< this epoch tries the other way
    double m_cost = 0;        //!< nanoseconds an event, last epoch of the present way
    uint32_t m_left = 1;      //!< epochs until the next comparison
    uint32_t m_patience = LEAST_PATIENCE;
    uint32_t m_unread = 0;
    uint64_t m_events = 0; //!< of this epoch
    int64_t m_begin;       //!< of this epoch
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_WINDOW_PACER_H
