#include "ns3-backend/model/simulator/partition-shares.h"

#include <algorithm>

namespace ns3::rdma
{

std::vector<std::vector<uint32_t>>
DealOut(const std::vector<std::vector<Partition*>>& layers, uint32_t parts, Assignment assignment)
{
    std::vector<std::vector<uint32_t>> owners;
    uint32_t turn = 0;
    uint32_t filled = 0; // layers so far that hold something
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

} // namespace ns3::rdma
