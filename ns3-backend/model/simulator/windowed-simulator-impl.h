#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOWED_SIMULATOR_IMPL_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOWED_SIMULATOR_IMPL_H_

#include "ns3-backend/model/simulator/control-events.h"
#include "ns3-backend/model/simulator/partition-shares.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/simulator/window-loop.h"

#include "ns3/simulator-impl.h"

namespace ns3::rdma
{

/**
 * \brief ns-3's simulator, parallel: its results do not depend on the number of threads.
 *
 * The model consists of partitions (a host, a switch), the same for any number of threads.
 * PartitionShares distributes them to processes and threads, WindowLoop runs them.
 *
 * Every process has all partitions as objects but runs its own; the partitions of other processes
 * exist only as addresses of mailboxes.
 *
 * Simulator::Schedule may be called before Run and from the events that it schedules, not from
 * partitions (ControlEvents). Simulator::Now works everywhere and returns the time of the calling
 * partition. The resolution of ns3::Time must be picoseconds. The scheduler set in ns-3 is not
 * used: the order of events is part of the contract here.
 */
class WindowedSimulatorImpl : public SimulatorImpl
{
  public:
    static TypeId GetTypeId();

    /**
     * Adds a partition, before Run. The partition must outlive Run.
     * \param layer partitions of one layer (hosts, leaf switches, ...) are distributed evenly
     */
    void AddPartition(Partition* partition, uint32_t layer);

    /// This process is one of \p processes, which outlive the run. Before partitions are added.
    void SetProcesses(drydock::Processes* processes);
    /// After the last AddPartition: decides which process runs which partition.
    void AssignProcesses();

    /// Whether this process runs \p partition.
    bool Owns(const Partition& partition) const
    {
        return m_shares.Owns(partition);
    }

    /// Returns the number of windows that were run, the same in every process.
    uint64_t GetWindowCount() const;

    // From SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    void Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

    /// Returns the time of the earliest event of the partitions of all processes, or NEVER. Call it
    /// between windows.
    int64_t NextEventTime() const
    {
        return m_loop.GetEarliest();
    }

  protected:
    void DoDispose() override;

  private:
    bool m_shareAlways;                   //!< attribute
    Assignment m_assignment = NEIGHBOURS; //!< attribute
    uint32_t m_threads;                   //!< attribute
    Time m_lookahead;                     //!< attribute
    WindowLoop::WindowTrace m_windowTrace;
    PartitionShares m_shares;
    ControlEvents m_control;
    WindowLoop m_loop{&m_control, &m_windowTrace};
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOWED_SIMULATOR_IMPL_H_
