#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_PACER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_PACER_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief Decides whether all threads share the next windows or the first thread runs them alone.
 *
 * A window of a few events takes less time than two barriers, and on a machine whose cores are busy
 * a barrier costs a time slice of the scheduler. The pacer therefore measures the cost of an event
 * in both modes. It uses the cheaper mode most of the time and compares with the other mode
 * periodically; the other mode must win by a tenth. The first windows after a change of mode do not
 * count: threads wake up, and state moves to other caches. Each time the comparison confirms the
 * mode, the next comparison is later. The mode changes no result, so the clock that is read here
 * does not either.
 */
class WindowPacer
{
  public:
    using Clock = int64_t (*)();

    /// With one thread the mode is always alone.
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

    /// Accounts for a window of \p events events.
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
    static constexpr uint64_t COMPARED_EPOCH_EVENTS = 5'000; //!< the wrong mode may halve the speed
    static constexpr int64_t EPOCH_NANOSECONDS = 1'000'000;
    static constexpr uint32_t WINDOWS_PER_READING = 16;
    static constexpr uint32_t COMPARED_EPOCHS = 2; //!< the first does not count
    /// Epochs until the next comparison. Running alone when sharing pays is the more costly
    /// mistake.
    static constexpr uint32_t MIN_PATIENCE_ALONE = 8;
    static constexpr uint32_t MIN_PATIENCE_TOGETHER = 32;
    static constexpr uint32_t MAX_PATIENCE = 256;
    static constexpr uint32_t PATIENCE_GROWTH = 4; //!< factor when the mode is confirmed
    static constexpr double MIN_GAIN =
        0.9; //!< a mode that wins costs less than this share of the present mode
    static constexpr double CLEAR_GAIN =
        0.75; //!< a cost below this share of running alone needs no comparison

    static int64_t SteadyNanoseconds()
    {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }

    struct Cost
    {
        int64_t nanoseconds = 0;
        uint64_t events = 0;

        /// The latest epoch weighs as much as all before it: the cost of an event changes in a run.
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
        // Other programs use the cores now: compare at once.
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
        if (m_together && !slow && m_patience < MAX_PATIENCE &&
            m_cost.PerEvent() < CLEAR_GAIN * m_alone)
        {
            Confirm(); // the last cost of running alone is recent enough
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
        const bool better = m_cost.PerEvent() < MIN_GAIN * m_present;
        const bool together = better == m_together;
        if (better)
        {
            m_patience = together ? MIN_PATIENCE_TOGETHER : MIN_PATIENCE_ALONE;
        }
        else
        {
            Confirm();
        }
        // A mode that just won the comparison is warm already.
        Begin(together, m_patience);
        m_warm = better;
    }

    /// The present mode continues, for longer than before.
    void Confirm()
    {
        m_patience = std::min(PATIENCE_GROWTH * m_patience, MAX_PATIENCE);
        m_left = m_patience;
    }

    /// Runs the next \p epochs in one mode.
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
    bool m_comparing = false; //!< this epoch tries the other mode
    bool m_warm = true;       //!< the epoch counts
    Cost m_cost;              //!< of the latest epochs that count, in the present mode
    double m_present = 0;     //!< nanoseconds an event, of the mode before the comparison
    double m_alone = 0;       //!< nanoseconds an event alone, at the last comparison
    uint32_t m_left = 1;      //!< epochs until the next comparison, or of this one
    uint32_t m_patience = MIN_PATIENCE_ALONE;
    uint32_t m_unread = 0;
    uint64_t m_events = 0; //!< of this epoch
    int64_t m_begin;       //!< of this epoch
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_PACER_H_
