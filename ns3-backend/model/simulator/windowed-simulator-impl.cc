#include "ns3-backend/model/simulator/windowed-simulator-impl.h"

#include "core/base/check.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <thread>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(WindowedSimulatorImpl);

thread_local WindowedSimulatorImpl::Worker* WindowedSimulatorImpl::t_worker = nullptr;
thread_local const Partition* WindowedSimulatorImpl::t_partition = nullptr;

TypeId
WindowedSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::WindowedSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("Drydock")
            .AddConstructor<WindowedSimulatorImpl>()
            .AddAttribute("Threads",
                          "How many threads run the partitions. Changes the wall-clock time only, "
                          "never a result.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&WindowedSimulatorImpl::m_threads),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("ShareAlways",
                          "All threads share every window, whether or not it pays; for tests. "
                          "Changes the wall-clock time only.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&WindowedSimulatorImpl::m_shareAlways),
                          MakeBooleanChecker())
            .AddAttribute("Assignment",
                          "Which thread gets which partition: of each layer a contiguous share, "
                          "one after another in turns, or whole layers. Changes the wall-clock "
                          "time only.",
                          EnumValue(NEIGHBOURS),
                          MakeEnumAccessor(&WindowedSimulatorImpl::m_assignment),
                          MakeEnumChecker(NEIGHBOURS,
                                          "neighbours",
                                          IN_TURNS,
                                          "in-turns",
                                          BY_LAYER,
                                          "by-layer"))
            .AddAttribute("Lookahead",
                          "Length of a window: the least time between an event of a partition and "
                          "its effect on another. The fabric's smallest cable delay plus its "
                          "smallest frame time; anything shorter is correct but slower.",
                          TimeValue(PicoSeconds(1)),
                          MakeTimeAccessor(&WindowedSimulatorImpl::m_lookahead),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddTraceSource("Window",
                            "A window is about to run: its begin and end, in picoseconds.",
                            MakeTraceSourceAccessor(&WindowedSimulatorImpl::m_windowTrace),
                            "ns3::rdma::WindowedSimulatorImpl::WindowTracedCallback");
    return tid;
}

WindowedSimulatorImpl::WindowedSimulatorImpl() = default;
WindowedSimulatorImpl::~WindowedSimulatorImpl() = default;

void
WindowedSimulatorImpl::Run()
{
    CHECK_NOTE(m_workers.empty(), "the simulator runs once");
    if (m_owners.size() != m_partitions.size())
    {
        ShareOut();
    }
    AssignPartitions();
    m_barrier = std::make_unique<WindowBarrier>(m_threads);
    m_pacer = std::make_unique<WindowPacer>(m_threads);
    m_cores = std::make_unique<WorkerCores>(m_threads);
    m_together = m_shareAlways;
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < m_threads; ++i)
    {
        threads.emplace_back([this, i] { Work(*m_workers[i]); });
    }
    Work(*m_workers[0]);
    for (std::thread& thread : threads)
    {
        thread.join();
    }
}

void
WindowedSimulatorImpl::Work(Worker& worker)
{
    const bool first = worker.context.index == 0;
    StartPartitions(worker);
    // Whatever the conditions here read is written by one thread only while all others wait, or
    // before a barrier that all pass: so all threads take the same branch.
    for (;;)
    {
        if (WindowIsNext() && m_together)
        {
            RunTogether(worker);
        }
        else if (WindowIsNext())
        {
            m_barrier->Wait(); // all have seen that it is the first thread's turn
            if (first)
            {
                RunAlone();
            }
            m_barrier->Wait();
        }
        else if (StopRequested() || m_control.NextTime() == NEVER)
        {
            break;
        }
        else
        {
            RunControl(worker);
        }
    }
}

bool
WindowedSimulatorImpl::WindowIsNext() const
{
    return !StopRequested() && Earliest() < m_control.NextTime();
}

int64_t
WindowedSimulatorImpl::WindowLimit() const
{
    const int64_t begin = Earliest();
    const int64_t lookahead = m_lookahead.GetTimeStep();
    return std::min(m_control.NextTime(), begin > NEVER - lookahead ? NEVER : begin + lookahead);
}

void
WindowedSimulatorImpl::RunTogether(Worker& worker)
{
    const bool first = worker.context.index == 0;
    m_cores->KeepApart(worker.context.index);
    const int64_t limit = WindowLimit();
    if (first)
    {
        OpenWindow(limit);
    }
    ProcessWindow(worker, limit);
    HandOver(worker);
    if (first)
    {
        CloseWindow();
    }
    m_barrier->Wait();
}

void
WindowedSimulatorImpl::RunAlone()
{
    do
    {
        const int64_t limit = WindowLimit();
        OpenWindow(limit);
        for (auto& worker : m_workers)
        {
            ProcessWindow(*worker, limit);
        }
        Exchange();
        for (auto& worker : m_workers)
        {
            EmptyMailboxes(*worker);
            Publish(*worker);
        }
        CloseWindow();
    } while (!m_together && WindowIsNext());
}

void
WindowedSimulatorImpl::OpenWindow(int64_t limit)
{
    ++m_windows;
    m_control.AdvanceTo(Earliest());
    m_windowTrace(Earliest(), limit);
}

void
WindowedSimulatorImpl::CloseWindow()
{
    uint64_t events = 0;
    for (const auto& worker : m_workers)
    {
        events += worker->events;
    }
    m_pacer->Account(events);
    m_together = m_shareAlways || m_pacer->Together();
}

void
WindowedSimulatorImpl::StartPartitions(Worker& worker)
{
    // Announced mailboxes may go to any thread, so all must have been adopted: AssignPartitions.
    t_worker = &worker;
    for (Partition* partition : worker.partitions)
    {
        t_partition = partition;
        partition->Start();
    }
    t_partition = nullptr;
    t_worker = nullptr;
    LookAgain(worker);
    HandOver(worker);
    m_barrier->Wait();
}

void
WindowedSimulatorImpl::LookAgain(Worker& worker)
{
    for (size_t i = 0; i < worker.partitions.size(); ++i)
    {
        worker.next[i] = worker.partitions[i]->NextTime();
    }
    LookAhead(worker);
}

void
WindowedSimulatorImpl::ProcessWindow(Worker& worker, int64_t limit)
{
    t_worker = &worker;
    worker.events = 0;
    for (size_t i = 0; i < worker.next.size(); ++i)
    {
        if (worker.next[i] < limit)
        {
            Partition* partition = worker.partitions[i];
            t_partition = partition;
            worker.events += partition->Process(limit);
            worker.next[i] = partition->NextTime();
        }
    }
    t_partition = nullptr;
    t_worker = nullptr;
    // What stays with this thread need not wait for the others: so there is less to wait for.
    Empty(worker.context.posted[worker.context.index], worker);
    LookAhead(worker);
}

void
WindowedSimulatorImpl::LookAhead(Worker& worker)
{
    if (!m_exchange)
    {
        return;
    }
    worker.ahead = NEVER;
    for (const int64_t next : worker.next)
    {
        worker.ahead = std::min(worker.ahead, next);
    }
    for (const std::vector<Mailbox*>& posted : worker.context.posted)
    {
        for (const Mailbox* mailbox : posted)
        {
            worker.ahead = std::min(worker.ahead, mailbox->EarliestTime());
        }
    }
}

void
WindowedSimulatorImpl::HandOver(Worker& worker)
{
    m_barrier->Wait();
    if (m_exchange)
    {
        if (worker.context.index == 0)
        {
            Exchange();
        }
        m_barrier->Wait();
    }
    EmptyMailboxes(worker);
    Publish(worker);
}

void
WindowedSimulatorImpl::Exchange()
{
    if (!m_exchange)
    {
        return;
    }
    int64_t earliest = NEVER;
    bool stop = m_stop;
    for (auto& worker : m_workers)
    {
        earliest = std::min(earliest, worker->ahead);
        stop = stop || worker->context.stop;
        m_exchange->Collect(worker->context);
    }
    m_exchange->Run(earliest, stop);
}

void
WindowedSimulatorImpl::EmptyMailboxes(Worker& worker)
{
    for (auto& sender : m_workers)
    {
        Empty(sender->context.posted[worker.context.index], worker);
    }
    if (m_exchange)
    {
        m_exchange->Deliver(worker.context.index, [&worker](const Partition* receiver) {
            worker.next[receiver->GetSlot()] = receiver->NextTime();
        });
    }
}

void
WindowedSimulatorImpl::Empty(std::vector<Mailbox*>& posted, Worker& worker)
{
    for (Mailbox* mailbox : posted)
    {
        mailbox->Deliver();
        const Partition* receiver = mailbox->GetReceiver();
        worker.next[receiver->GetSlot()] = receiver->NextTime();
    }
    posted.clear();
}

void
WindowedSimulatorImpl::Publish(Worker& worker)
{
    int64_t earliest = NEVER;
    for (const int64_t next : worker.next)
    {
        earliest = std::min(earliest, next);
    }
    worker.earliest = earliest;
    worker.stop = worker.context.stop;
}

void
WindowedSimulatorImpl::RunControl(Worker& worker)
{
    m_barrier->Wait(); // all have seen that it is time
    if (worker.context.index == 0)
    {
        m_control.RunNextTime();
    }
    m_barrier->Wait();
    LookAgain(worker);
    HandOver(worker);
    m_barrier->Wait();
}

int64_t
WindowedSimulatorImpl::Earliest() const
{
    if (m_exchange)
    {
        return m_exchange->GetEarliest();
    }
    int64_t earliest = NEVER;
    for (const auto& worker : m_workers)
    {
        earliest = std::min(earliest, worker->earliest);
    }
    return earliest;
}

bool
WindowedSimulatorImpl::StopRequested() const
{
    return m_stop || (m_exchange && m_exchange->GetStop()) ||
           std::any_of(m_workers.begin(), m_workers.end(), [](const auto& worker) {
               return worker->stop;
           });
}

} // namespace ns3::rdma
