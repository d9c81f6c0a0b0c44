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
 * for a few milliseconds in the other. The first of them does not count: the other threads wake
 * up, and what the partitions touch moves to other caches. The more often the choice is confirmed,
 * the rarer the comparison. Who runs a window changes no result, so neither does the clock that is
 * read here.
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
        if (!m_together && ++m_unread < WINDOWS_PER_READING && m_events < EPOCH_EVENTS)
        {
            return; // reading the clock would cost as much as a small window
        }
        m_unread = 0;
        const int64_t now = m_clock();
        if (m_events >= EPOCH_EVENTS || now - m_begin >= EPOCH_NANOSECONDS)
        {
            EndEpoch({now - m_begin, m_events});
            m_begin = now;
            m_events = 0;
        }
    }

  private:
    static constexpr uint64_t EPOCH_EVENTS = 20'000;
    static constexpr int64_t EPOCH_NANOSECONDS = 1'000'000;
    static constexpr uint32_t WINDOWS_PER_READING = 16;
    static constexpr uint32_t COMPARED_EPOCHS = 2; //!< the first is not counted
    static constexpr uint32_t LEAST_PATIENCE = 8;
    static constexpr uint32_t MOST_PATIENCE = 256;

    static int64_t SteadyNanoseconds()
    {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }

    struct Cost
    {
        int64_t nanoseconds = 0;
        uint64_t events = 0;

        void operator+=(const Cost& other)
        {
            nanoseconds += other.nanoseconds;
            events += other.events;
        }

        double PerEvent() const
        {
            return static_cast<double>(nanoseconds) /
                   static_cast<double>(std::max<uint64_t>(events, 1));
        }
    };

    void EndEpoch(const Cost& epoch)
    {
        if (m_warm)
        {
            m_cost += epoch;
        }
        m_warm = true;
        if (--m_left > 0)
        {
            return;
        }
        if (m_comparing)
        {
            Decide();
            return;
        }
        m_comparing = true;
        m_present = m_cost.PerEvent();
        Begin(!m_together, COMPARED_EPOCHS);
    }

    void Decide()
    {
        m_comparing = false;
        const bool better = m_cost.PerEvent() < m_present;
        m_patience = better ? LEAST_PATIENCE : std::min(2 * m_patience, MOST_PATIENCE);
        // A way that was just compared is warm already.
        Begin(better == m_together, m_patience);
        m_warm = better;
    }

    /// The next \p epochs all in one way.
    void Begin(bool together, uint32_t epochs)
    {
        m_together = together;
        m_left = epochs;
        m_cost = {};
        m_warm = false;
    }

    const bool m_single;
    const Clock m_clock;
    bool m_together = false;
    bool m_comparing = false; //!< this epoch tries the other way
    bool m_warm = true;       //!< the epoch counts
    Cost m_cost;              //!< of the epochs that count, in the present way
    double m_present = 0;     //!< nanoseconds an event, of the way that is being compared with
    uint32_t m_left = 1;      //!< epochs until the next comparison, or of this one
    uint32_t m_patience = LEAST_PATIENCE;
    uint32_t m_unread = 0;
    uint64_t m_events = 0; //!< of this epoch
    int64_t m_begin;       //!< of this epoch
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_WINDOW_PACER_H
