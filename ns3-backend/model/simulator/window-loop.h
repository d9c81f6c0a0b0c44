#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_LOOP_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_LOOP_H_

#include "ns3-backend/model/simulator/control-events.h"
#include "ns3-backend/model/simulator/partition-shares.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/simulator/window-barrier.h"
#include "ns3-backend/model/simulator/window-exchange.h"
#include "ns3-backend/model/simulator/window-pacer.h"
#include "ns3-backend/model/simulator/worker-cores.h"

#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief Runs partitions window by window on several threads, with the same result for any number
 * of threads and processes. Times in ps.
 *
 * If the earliest pending event anywhere is at t, every partition runs its events in
 * [t, t + lookahead) and puts what it sends into mailboxes. The lookahead is the shortest time
 * after which anything sent takes effect elsewhere, so nothing sent takes effect in the same
 * window. Then the mailboxes are emptied and the next window begins. Threads meet at two barriers a
 * window: after running, and after emptying. One thread runs the same windows: a switch's whole
 * window at a time keeps the state of the switch in the cache.
 *
 * With several processes the first threads exchange the mailboxes for other processes
 * (WindowExchange) between running and emptying, so all processes run the same windows. Control
 * events run in every process.
 *
 * A thread owns the same partitions throughout. Where windows are too small to be worth two
 * barriers, the first thread runs them all while the others sleep (WindowPacer).
 */
class WindowLoop
{
  public:
    using WindowTrace = TracedCallback<int64_t, int64_t>;

    struct Settings
    {
        uint32_t threads = 1;
        bool shareAlways = false; //!< all threads share every window, whether or not it pays
        Assignment assignment = NEIGHBOURS;
        int64_t lookahead = 1;
    };

    /// Both arguments outlive this. The first thread fires \p windowTrace as a window begins, with
    /// the start and the end of the window; the other threads may already run the window.
    WindowLoop(ControlEvents* control, const WindowTrace* windowTrace);
    ~WindowLoop();

    /// Runs until nothing is left to do or Stop is called. Once.
    /// REQUIRES: \p shares knows which process runs which partition.
    void Run(const Settings& settings, const PartitionShares& shares);

    /// Ends the run with the present window. Any thread may call this.
    void Stop();

    bool IsStopRequested() const;

    /// Returns the time of the earliest event of all processes, or NEVER. Call it between windows.
    int64_t GetEarliest() const;

    /// Returns the number of windows that were run, the same in every process.
    uint64_t GetWindowCount() const
    {
        return m_windows;
    }

    /// Whether the calling thread runs the window of some partition.
    static bool InWindow()
    {
        return t_worker != nullptr;
    }

    /// Returns the partition whose events the calling thread runs, or null.
    static const Partition* GetPartition()
    {
        return t_partition;
    }

    /// Forgets the partitions. After Run.
    void Clear();

  private:
    /// One thread and what it owns. Padded: each is written by its own thread.
    struct alignas(128) Worker
    {
        ThreadContext context;
        std::vector<Partition*> partitions;
        std::vector<int64_t> next; //!< NextTime of each, side by side for the scan
        int64_t earliest = NEVER;  //!< minimum of next; the other threads read it
        int64_t ahead = NEVER;     //!< the same, with what was sent in the last window
        bool stop = false;         //!< the other threads read it
        uint64_t events = 0;       //!< of the last window
    };

    void AssignPartitions(const PartitionShares& shares);
    void MakeWorkers(uint32_t otherProcesses);
    /// Asks every partition of \p worker for the time of its next event.
    void UpdateNextTimes(Worker& worker);
    /// Includes what \p worker has sent in this window in Worker::ahead.
    void LookAhead(Worker& worker);
    /// The body of one thread.
    void Work(Worker& worker);
    void StartPartitions(Worker& worker);
    /// Runs windows for all threads, until one is worth sharing or cannot be run yet.
    void RunAlone();
    /// Runs the part of \p worker in a window that all threads run.
    void RunTogether(Worker& worker);
    /// Whether a window can be run now: no stop is requested and no control event comes first.
    bool WindowIsNext() const;
    /// Returns the end of the window that begins with the earliest event.
    int64_t WindowLimit() const;
    /// The first thread opens the window, and closes it when everything is delivered.
    void OpenWindow(int64_t limit);
    void CloseWindow();
    void ProcessWindow(Worker& worker, int64_t limit);
    /// With several processes: what the first thread does before mailboxes are emptied.
    void Exchange();
    /// Between two windows: delivers what was sent and publishes the time of the next event.
    void HandOver(Worker& worker);
    void EmptyMailboxes(Worker& worker);
    /// Delivers \p posted to partitions of \p worker.
    void Empty(std::vector<Mailbox*>& posted, Worker& worker);
    void Publish(Worker& worker);
    /// Runs the control events that are due while all other threads wait.
    void RunControl(Worker& worker);

    ControlEvents* m_control;
    const WindowTrace* m_windowTrace;
    Settings m_settings;
    std::unique_ptr<WindowExchange> m_exchange; //!< null: there is one process
    std::vector<std::unique_ptr<Worker>> m_workers;
    std::unique_ptr<WindowBarrier> m_barrier;
    std::unique_ptr<WorkerCores> m_cores;
    std::unique_ptr<WindowPacer> m_pacer;
    bool m_together = false; //!< all threads share the next window
    bool m_stop = false;     //!< Stop was called outside of partitions
    uint64_t m_windows = 0;

    static thread_local Worker* t_worker;             //!< of this thread, while it runs a window
    static thread_local const Partition* t_partition; //!< whose events this thread runs
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_LOOP_H_
