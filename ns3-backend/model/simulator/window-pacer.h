#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_PACER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_PACER_H_

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
 * for a moment in the other, which must win by a tenth. The first windows of it do not count: the
 * other threads wake up, and what the partitions touch moves to other caches. The more often the
 * choice is confirmed, the rarer the comparison. Who runs a window changes no result, so neither
 * does the clock that is read here.
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
        if (!m_together && ++m_unread < WINDOWS_PER_READING && m_events < EpochEvents())
        {
            return; // reading the clock would cost as much as a small window
        }
        m_unread = 0;
        const int64_t now = m_clock();
        if (m_events >= EpochEvents() || now - m_begin >= EPOCH_NANOSECONDS)
        {
            EndEpoch({now - m_begin, m_events});
            m_begin = now;
            m_events = 0;
        }
    }

  private:
    static constexpr uint64_t EPOCH_EVENTS = 20'000;
    static constexpr uint64_t COMPARED_EPOCH_EVENTS = 5'000; //!< the wrong way costs half the speed
    static constexpr int64_t EPOCH_NANOSECONDS = 1'000'000;
    static constexpr uint32_t WINDOWS_PER_READING = 16;
    static constexpr uint32_t COMPARED_EPOCHS = 2; //!< the first is not counted
    /// Epochs until the next comparison. Not to share when it would pay costs more.
    static constexpr uint32_t LEAST_PATIENCE_ALONE = 8;
    static constexpr uint32_t LEAST_PATIENCE_TOGETHER = 32;
    static constexpr uint32_t MOST_PATIENCE = 256;
    static constexpr uint32_t MORE_PATIENCE = 4; //!< times as much when a choice is confirmed
    static constexpr double LEAST_GAIN = 0.9;    //!< of the cost of the present way
    static constexpr double CLEAR_GAIN = 0.75;   //!< of the cost alone: no need to compare

    static int64_t SteadyNanoseconds()
    {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }

    struct Cost
    {
        int64_t nanoseconds = 0;
        uint64_t events = 0;

        /// The latest counts as much as all before it: what an event costs changes in a run.
        void Follow(const Cost& latest)
        {
            nanoseconds = nanoseconds / 2 + latest.nanoseconds;
            events = events / 2 + latest.events;
        }

        double PerEvent() const
        {
            return static_cast<double>(nanoseconds) /
                   static_cast<double>(std::max<uint64_t>(events, 1));
        }
    };

    uint64_t EpochEvents() const
    {
        return m_comparing ? COMPARED_EPOCH_EVENTS : EPOCH_EVENTS;
    }

    void EndEpoch(const Cost& epoch)
    {
        if (m_warm)
        {
            m_cost.Follow(epoch);
        }
        m_warm = true;
        // Something else wants the cores now: no reason to wait with the comparison.
        const bool slow = m_together && !m_comparing && epoch.PerEvent() > m_alone;
        if (--m_left > 0 && !slow)
        {
            return;
        }
        if (m_comparing)
        {
            Decide();
            return;
        }
        if (m_together && !slow && m_patience < MOST_PATIENCE &&
            m_cost.PerEvent() < CLEAR_GAIN * m_alone)
        {
            Confirm(); // what running alone cost then is recent enough to tell
            return;
        }
        m_comparing = true;
        m_present = m_cost.PerEvent();
        Begin(!m_together, COMPARED_EPOCHS);
    }

    void Decide()
    {
        m_comparing = false;
        m_alone = m_together ? m_present : m_cost.PerEvent();
        const bool better = m_cost.PerEvent() < LEAST_GAIN * m_present;
        const bool together = better == m_together;
        if (better)
        {
            m_patience = together ? LEAST_PATIENCE_TOGETHER : LEAST_PATIENCE_ALONE;
        }
        else
        {
            Confirm();
        }
        // A way that was just compared is warm already.
        Begin(together, m_patience);
        m_warm = better;
    }

    /// The present way goes on, longer than before.
    void Confirm()
    {
        m_patience = std::min(MORE_PATIENCE * m_patience, MOST_PATIENCE);
        m_left = m_patience;
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
    Cost m_cost;              //!< of the latest epochs that count, in the present way
    double m_present = 0;     //!< nanoseconds an event, of the way that is being compared with
    double m_alone = 0;       //!< likewise, alone, at the last comparison
    uint32_t m_left = 1;      //!< epochs until the next comparison, or of this one
    uint32_t m_patience = LEAST_PATIENCE_ALONE;
    uint32_t m_unread = 0;
    uint64_t m_events = 0; //!< of this epoch
    int64_t m_begin;       //!< of this epoch
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_PACER_H_
