#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOWED_SIMULATOR_IMPL_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOWED_SIMULATOR_IMPL_H_

#include "ns3-backend/model/simulator/control-events.h"
#include "ns3-backend/model/simulator/partition-shares.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/simulator/window-barrier.h"
#include "ns3-backend/model/simulator/window-exchange.h"
#include "ns3-backend/model/simulator/window-pacer.h"
#include "ns3-backend/model/simulator/worker-cores.h"

#include "ns3/simulator-impl.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A parallel simulator whose results do not depend on the number of threads.
 *
 * The model is split into partitions (a host, a switch), whatever the number of threads. Time goes
 * by in windows: if the earliest pending event anywhere is at t, every partition runs its events in
 * [t, t + lookahead) and puts what it sends into mailboxes; the lookahead is the least time by
 * which anything sent takes effect elsewhere, so nothing of it can belong to the same window. Then
 * the mailboxes are emptied and the next window begins. Threads meet at two barriers a window:
 * after running, and after emptying. With one thread the same windows are run: going through one
 * switch's whole window at a time is also what keeps its state in the cache.
 *
 * Several processes (mpirun) share the partitions first, threads within each process then. Every
 * process has all partitions as objects but runs its own: those of the others only stand for where
 * mailboxes go. Between running and emptying the first threads of all processes exchange what goes
 * to other processes (WindowExchange), so all run the same windows. Control events run in every
 * process alike.
 *
 * A thread owns the same partitions throughout (a contiguous share of each layer by weight). Where
 * windows are too small to be worth two barriers, the first thread runs them all while the others
 * sleep (WindowPacer).
 *
 * Simulator::Schedule may be called before Run and from such events, not from partitions: see
 * ControlEvents. Simulator::Now works everywhere and is the time of the calling partition.
 * The resolution of ns3::Time must be picoseconds. The scheduler set in ns-3 is not used: the order
 * of events is part of the contract here.
 */
class WindowedSimulatorImpl : public SimulatorImpl
{
  public:
    static TypeId GetTypeId();
    WindowedSimulatorImpl();
    ~WindowedSimulatorImpl() override;

    /**
     * Adds a partition, before Run. It must live until the end of Run.
     * \param layer partitions of one layer (hosts, leaf switches, ...) are shared out evenly
     */
    void AddPartition(Partition* partition, uint32_t layer);

    /// This process is one of \p processes, which outlive the run. Before partitions are added.
    void SetProcesses(drydock::Processes* processes);
    /// After the last AddPartition: decides which process runs which partition.
    void ShareOut();

    /// Whether this process runs \p partition.
    bool Owns(const Partition& partition) const
    {
        return m_owners[partition.GetNumber()] == m_process;
    }

    /// Number of windows that were run, the same in every process.
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

    /// Of the partitions of all processes; between windows. NEVER if none has anything left to do.
    int64_t NextEventTime() const
    {
        return Earliest();
    }

  protected:
    void DoDispose() override;

  private:
    /// One thread and what it owns. Padded: each is written by its own thread.
    struct alignas(128) Worker
    {
        ThreadContext context;
        std::vector<Partition*> partitions;
        std::vector<int64_t> next; //!< NextTime of each, side by side for the scan
        int64_t earliest = NEVER;  //!< least of next; what the others read
        int64_t ahead = NEVER;     //!< likewise with what was sent in the last window
        bool stop = false;         //!< what the others read
        uint64_t events = 0;       //!< of the last window
    };

    void AssignPartitions();
    void MakeWorkers();
    /// Asks every partition of \p worker when its next event is.
    void LookAgain(Worker& worker);
    /// Looks ahead to what \p worker has sent in this window.
    void LookAhead(Worker& worker);
    /// The life of one thread.
    void Work(Worker& worker);
    void StartPartitions(Worker& worker);
    /// Windows that the first thread runs for all, until one is worth sharing or cannot be run yet.
    void RunAlone();
    /// One window, by all threads: what \p worker does of it.
    void RunTogether(Worker& worker);
    /// Whether a window can be run now: nobody wants to stop and no control event comes first.
    bool WindowIsNext() const;
    /// The end of the window that begins with the earliest event.
    int64_t WindowLimit() const;
    /// The first thread opens the window and, when all is delivered, closes it.
    void OpenWindow(int64_t limit);
    void CloseWindow();
    void ProcessWindow(Worker& worker, int64_t limit);
    /// With several processes: what the first thread does before mailboxes are emptied.
    void Exchange();
    /// From a window to the next: everybody gets what was sent and sees how far all are.
    void HandOver(Worker& worker);
    void EmptyMailboxes(Worker& worker);
    /// Hands what was \p posted to partitions of \p worker.
    void Empty(std::vector<Mailbox*>& posted, Worker& worker);
    void Publish(Worker& worker);
    /// Runs the control events that are due while all others wait.
    void RunControl(Worker& worker);
    int64_t Earliest() const;
    bool StopRequested() const;

    bool m_shareAlways;                   //!< attribute
    Assignment m_assignment = NEIGHBOURS; //!< attribute
    uint32_t m_threads;                   //!< attribute
    Time m_lookahead;                     //!< attribute
    std::vector<std::vector<Partition*>> m_layers;
    std::vector<Partition*> m_partitions; //!< by number
    std::vector<uint32_t> m_owners;       //!< by number: the process
    drydock::Processes* m_processes = &drydock::OneProcess();
    uint32_t m_process = 0;                     //!< this one
    std::unique_ptr<WindowExchange> m_exchange; //!< null: there is one process
    std::vector<std::unique_ptr<Worker>> m_workers;
    std::unique_ptr<WindowBarrier> m_barrier;
    std::unique_ptr<WorkerCores> m_cores;
    ControlEvents m_control;
    std::unique_ptr<WindowPacer> m_pacer;
    bool m_together = false; //!< all threads share the next window
    bool m_stop = false;     //!< by Stop outside of partitions
    uint64_t m_windows = 0;
    /// Fired by the first thread as a window begins (the others run already): begin, end, ps.
    TracedCallback<int64_t, int64_t> m_windowTrace;

    static thread_local Worker* t_worker;             //!< of this thread, while it runs a window
    static thread_local const Partition* t_partition; //!< whose events this thread runs
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOWED_SIMULATOR_IMPL_H_
