#include "ns3-backend/model/simulator/window-loop.h"

#include "core/base/check.h"

#include <algorithm>
#include <thread>

namespace ns3::rdma
{

thread_local WindowLoop::Worker* WindowLoop::t_worker = nullptr;
thread_local const Partition* WindowLoop::t_partition = nullptr;

WindowLoop::WindowLoop(ControlEvents* control, const WindowTrace* windowTrace)
    : m_control(control),
      m_windowTrace(windowTrace)
{
}

WindowLoop::~WindowLoop() = default;

void
WindowLoop::Run(const Settings& settings, const PartitionShares& shares)
{
    CHECK_NOTE(m_workers.empty(), "the simulator runs once");
    m_settings = settings;
    AssignPartitions(shares);
    m_barrier = std::make_unique<WindowBarrier>(settings.threads);
    m_pacer = std::make_unique<WindowPacer>(settings.threads);
    m_cores = std::make_unique<WorkerCores>(settings.threads);
    m_together = settings.shareAlways;
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < settings.threads; ++i)
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
WindowLoop::MakeWorkers(uint32_t otherProcesses)
{
    for (uint32_t i = 0; i < m_settings.threads; ++i)
    {
        m_workers.push_back(std::make_unique<Worker>());
        m_workers.back()->context.index = i;
        m_workers.back()->context.threads = m_settings.threads;
        m_workers.back()->context.posted.resize(m_settings.threads + otherProcesses);
    }
}

void
WindowLoop::AssignPartitions(const PartitionShares& shares)
{
    const auto processes = static_cast<uint32_t>(shares.GetProcesses()->count());
    MakeWorkers(processes > 1 ? processes : 0);
    if (processes > 1)
    {
        m_exchange = std::make_unique<WindowExchange>(shares.GetProcesses(),
                                                      shares.GetPartitions(),
                                                      m_settings.threads);
    }
    for (Partition* partition : shares.GetPartitions())
    {
        if (!shares.Owns(*partition))
        {
            m_exchange->Adopt(partition, shares.OwnerOf(*partition));
        }
    }
    for (const auto& [partition, thread] :
         shares.AssignThreads(m_settings.threads, m_settings.assignment))
    {
        Worker& worker = *m_workers[thread];
        partition->Adopt(&worker.context, worker.partitions.size());
        worker.partitions.push_back(partition);
        worker.next.push_back(NEVER);
    }
}

void
WindowLoop::Stop()
{
    if (t_worker != nullptr)
    {
        t_worker->context.stop = true;
    }
    else
    {
        m_stop = true;
    }
}

void
WindowLoop::Clear()
{
    m_workers.clear();
}

void
WindowLoop::Work(Worker& worker)
{
    const bool first = worker.context.index == 0;
    StartPartitions(worker);
    // The values that these conditions read are written by one thread while all others wait, or
    // before a barrier that all pass. So all threads take the same branch.
    for (;;)
    {
        if (WindowIsNext() && m_together)
        {
            RunTogether(worker);
        }
        else if (WindowIsNext())
        {
            m_barrier->Wait(); // all have seen that it is the turn of the first thread
            if (first)
            {
                RunAlone();
            }
            m_barrier->Wait();
        }
        else if (IsStopRequested() || m_control->NextTime() == NEVER)
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
WindowLoop::WindowIsNext() const
{
    return !IsStopRequested() && GetEarliest() < m_control->NextTime();
}

int64_t
WindowLoop::WindowLimit() const
{
    const int64_t begin = GetEarliest();
    const int64_t lookahead = m_settings.lookahead;
    return std::min(m_control->NextTime(), begin > NEVER - lookahead ? NEVER : begin + lookahead);
}

void
WindowLoop::RunTogether(Worker& worker)
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
WindowLoop::RunAlone()
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
WindowLoop::OpenWindow(int64_t limit)
{
    ++m_windows;
    m_control->AdvanceTo(GetEarliest());
    (*m_windowTrace)(GetEarliest(), limit);
}

void
WindowLoop::CloseWindow()
{
    uint64_t events = 0;
    for (const auto& worker : m_workers)
    {
        events += worker->events;
    }
    m_pacer->Account(events);
    m_together = m_settings.shareAlways || m_pacer->Together();
}

void
WindowLoop::StartPartitions(Worker& worker)
{
    // Start may post to mailboxes of any thread. AssignPartitions has adopted all partitions.
    t_worker = &worker;
    for (Partition* partition : worker.partitions)
    {
        t_partition = partition;
        partition->Start();
    }
    t_partition = nullptr;
    t_worker = nullptr;
    UpdateNextTimes(worker);
    HandOver(worker);
    m_barrier->Wait();
}

void
WindowLoop::UpdateNextTimes(Worker& worker)
{
    for (size_t i = 0; i < worker.partitions.size(); ++i)
    {
        worker.next[i] = worker.partitions[i]->NextTime();
    }
    LookAhead(worker);
}

void
WindowLoop::ProcessWindow(Worker& worker, int64_t limit)
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
    // Mailboxes between partitions of this thread need no barrier.
    Empty(worker.context.posted[worker.context.index], worker);
    LookAhead(worker);
}

void
WindowLoop::LookAhead(Worker& worker)
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
WindowLoop::HandOver(Worker& worker)
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
WindowLoop::Exchange()
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
WindowLoop::EmptyMailboxes(Worker& worker)
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
WindowLoop::Empty(std::vector<Mailbox*>& posted, Worker& worker)
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
WindowLoop::Publish(Worker& worker)
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
WindowLoop::RunControl(Worker& worker)
{
    m_barrier->Wait(); // all have seen that control events are due
    if (worker.context.index == 0)
    {
        m_control->RunNextTime();
    }
    m_barrier->Wait();
    UpdateNextTimes(worker);
    HandOver(worker);
    m_barrier->Wait();
}

int64_t
WindowLoop::GetEarliest() const
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
WindowLoop::IsStopRequested() const
{
    return m_stop || (m_exchange && m_exchange->GetStop()) ||
           std::any_of(m_workers.begin(), m_workers.end(), [](const auto& worker) {
               return worker->stop;
           });
}

} // namespace ns3::rdma
