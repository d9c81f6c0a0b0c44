#include "ns3-backend/model/simulator/partition-shares.h"

#include <algorithm>
#include <iterator>

namespace ns3::rdma
{

std::vector<std::vector<uint32_t>>
Distribute(const std::vector<std::vector<Partition*>>& layers,
           uint32_t parts,
           Assignment assignment)
{
    std::vector<std::vector<uint32_t>> owners;
    uint32_t turn = 0;
    uint32_t filled = 0; // layers so far that are not empty
    for (const std::vector<Partition*>& layer : layers)
    {
        uint64_t total = 0;
        for (const Partition* partition : layer)
        {
            total += partition->GetWeight();
        }
        uint64_t before = 0;
        std::vector<uint32_t>& own = owners.emplace_back();
        for (const Partition* partition : layer)
        {
            const uint64_t middle = 2 * before + partition->GetWeight();
            before += partition->GetWeight();
            switch (assignment)
            {
            case NEIGHBOURS:
                own.push_back(static_cast<uint32_t>(
                    std::min<uint64_t>(middle * parts / (2 * total + 1), parts - 1)));
                break;
            case IN_TURNS:
                own.push_back(turn++ % parts);
                break;
            case BY_LAYER:
                own.push_back(filled % parts);
                break;
            }
        }
        filled += layer.empty() ? 0 : 1;
    }
    return owners;
}

void
PartitionShares::Add(Partition* partition, uint32_t layer)
{
    m_layers.resize(std::max<size_t>(m_layers.size(), layer + 1));
    m_layers[layer].push_back(partition);
    partition->SetNumber(static_cast<uint32_t>(m_partitions.size()));
    m_partitions.push_back(partition);
}

void
PartitionShares::SetProcesses(drydock::Processes* processes)
{
    m_processes = processes;
    m_process = static_cast<uint32_t>(processes->index());
}

void
PartitionShares::AssignProcesses(Assignment assignment)
{
    if (m_owners.size() == m_partitions.size())
    {
        return;
    }
    m_owners.assign(m_partitions.size(), 0);
    const auto count = static_cast<uint32_t>(m_processes->count());
    const std::vector<std::vector<uint32_t>> owners = Distribute(m_layers, count, assignment);
    for (size_t layer = 0; layer < m_layers.size(); ++layer)
    {
        for (size_t i = 0; i < m_layers[layer].size(); ++i)
        {
            m_owners[m_layers[layer][i]->GetNumber()] = owners[layer][i];
        }
    }
}

std::vector<PartitionShares::Share>
PartitionShares::AssignThreads(uint32_t threads, Assignment assignment) const
{
    std::vector<std::vector<Partition*>> own(m_layers.size());
    for (size_t layer = 0; layer < m_layers.size(); ++layer)
    {
        std::copy_if(m_layers[layer].begin(),
                     m_layers[layer].end(),
                     std::back_inserter(own[layer]),
                     [this](const Partition* partition) { return Owns(*partition); });
    }
    const std::vector<std::vector<uint32_t>> threadOf = Distribute(own, threads, assignment);
    std::vector<Share> shares;
    for (size_t layer = 0; layer < own.size(); ++layer)
    {
        for (size_t i = 0; i < own[layer].size(); ++i)
        {
            shares.push_back({own[layer][i], threadOf[layer][i]});
        }
    }
    return shares;
}

} // namespace ns3::rdma
