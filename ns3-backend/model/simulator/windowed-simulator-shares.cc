// Which process and which thread runs which partition.
#include "ns3-backend/model/simulator/windowed-simulator-impl.h"

#include <algorithm>

namespace ns3::rdma
{

void
WindowedSimulatorImpl::AddPartition(Partition* partition, uint32_t layer)
{
    m_layers.resize(std::max<size_t>(m_layers.size(), layer + 1));
    m_layers[layer].push_back(partition);
    partition->SetNumber(static_cast<uint32_t>(m_partitions.size()));
    m_partitions.push_back(partition);
}

void
WindowedSimulatorImpl::SetProcesses(drydock::Processes* processes)
{
    m_processes = processes;
    m_process = static_cast<uint32_t>(processes->index());
}

void
WindowedSimulatorImpl::ShareOut()
{
    m_owners.assign(m_partitions.size(), 0);
    const auto count = static_cast<uint32_t>(m_processes->count());
    const std::vector<std::vector<uint32_t>> owners = DealOut(m_layers, count, m_assignment);
    for (size_t layer = 0; layer < m_layers.size(); ++layer)
    {
        for (size_t i = 0; i < m_layers[layer].size(); ++i)
        {
            m_owners[m_layers[layer][i]->GetNumber()] = owners[layer][i];
        }
    }
}

void
WindowedSimulatorImpl::MakeWorkers()
{
    const uint32_t others = m_exchange ? static_cast<uint32_t>(m_processes->count()) : 0;
    for (uint32_t i = 0; i < m_threads; ++i)
    {
        m_workers.push_back(std::make_unique<Worker>());
        m_workers.back()->context.index = i;
        m_workers.back()->context.threads = m_threads;
        m_workers.back()->context.posted.resize(m_threads + others);
    }
}

void
WindowedSimulatorImpl::AssignPartitions()
{
    if (m_processes->count() > 1)
    {
        m_exchange = std::make_unique<WindowExchange>(m_processes, m_partitions, m_threads);
    }
    MakeWorkers();
    std::vector<std::vector<Partition*>> own(m_layers.size());
    for (size_t layer = 0; layer < m_layers.size(); ++layer)
    {
        for (Partition* partition : m_layers[layer])
        {
            if (Owns(*partition))
            {
                own[layer].push_back(partition);
            }
            else
            {
                m_exchange->Adopt(partition, m_owners[partition->GetNumber()]);
            }
        }
    }
    const std::vector<std::vector<uint32_t>> threads = DealOut(own, m_threads, m_assignment);
    for (size_t layer = 0; layer < own.size(); ++layer)
    {
        for (size_t i = 0; i < own[layer].size(); ++i)
        {
            Worker& worker = *m_workers[threads[layer][i]];
            own[layer][i]->Adopt(&worker.context, worker.partitions.size());
            worker.partitions.push_back(own[layer][i]);
            worker.next.push_back(NEVER);
        }
    }
}

} // namespace ns3::rdma
