#include "ns3-backend/model/fabric-map.h"

#include "core/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ns3::rdma
{
namespace
{

using drydock::Bandwidth;
using drydock::FabricLink;
using drydock::LinkEnd;
using drydock::Topology;

/// A NIC sends and receives no faster than its own rate, whatever the cable could carry.
Bandwidth
RateOf(const Topology& topology, const FabricLink& link)
{
    Bandwidth rate = link.rate;
    for (const LinkEnd& end : {link.a, link.b})
    {
        if (!end.is_switch)
        {
            rate = std::min(rate, topology.kind_of_host(end.index).nics.rate);
        }
    }
    return rate;
}

/// Stores equal sets of ports of one switch once.
class SetStore
{
  public:
    SetStore(std::vector<uint16_t>& ports)
        : m_ports(ports)
    {
    }

    /// Position of \p set in the ports.
    uint32_t Find(const std::vector<uint16_t>& set)
    {
        const auto [it, added] = m_known.emplace(set, m_ports.size());
        if (added)
        {
            m_ports.insert(m_ports.end(), set.begin(), set.end());
        }
        return static_cast<uint32_t>(it->second);
    }

  private:
    std::map<std::vector<uint16_t>, size_t> m_known;
    std::vector<uint16_t>& m_ports;
};

} // namespace

FabricMap::FabricMap(const Topology& topology)
    : m_hosts(static_cast<uint32_t>(topology.host_count())),
      m_ports(m_hosts + topology.fabric.switches.size())
{
    for (uint32_t i = 0; i < topology.fabric.switches.size(); ++i)
    {
        m_seeds.push_back(Mix(i + 1));
        m_switchNames.push_back(topology.fabric.switches[i].name);
    }
    AddDirections(topology);
    NumberLeaves();
    AddRoutes();
}

void
FabricMap::AddDirections(const Topology& topology)
{
    const auto node = [&](const LinkEnd& end) {
        return static_cast<uint32_t>(end.index) + (end.is_switch ? m_hosts : 0);
    };
    const auto latency = [&](const LinkEnd& end) {
        return end.is_switch ? topology.fabric.switches[static_cast<size_t>(end.index)].latency.ps()
                             : 0;
    };
    const auto nic = [](const LinkEnd& end) {
        return static_cast<int16_t>(end.is_switch ? -1 : end.nic);
    };
    for (const FabricLink& link : topology.fabric.links)
    {
        const Bandwidth rate = RateOf(topology, link);
        FabricDirection there{};
        there.fromNode = node(link.a);
        there.toNode = node(link.b);
        there.fromPort = static_cast<uint16_t>(m_ports[there.fromNode].size());
        m_ports[there.fromNode].push_back(GetNLinks());
        there.toPort = static_cast<uint16_t>(m_ports[there.toNode].size());
        m_ports[there.toNode].push_back(GetNLinks() + 1);
        there.fromNic = nic(link.a);
        there.toNic = nic(link.b);
        there.delay = link.delay.ps() + latency(link.b);
        there.SetRate(rate);
        there.made = rate;
        FabricDirection back = there;
        std::swap(back.fromNode, back.toNode);
        std::swap(back.fromPort, back.toPort);
        std::swap(back.fromNic, back.toNic);
        back.delay = link.delay.ps() + latency(link.a);
        m_directions.push_back(there);
        m_directions.push_back(back);
    }
}

void
FabricMap::NumberLeaves()
{
    std::vector<uint32_t> leafOf(m_seeds.size(), NO_SWITCH);
    m_access.assign(m_directions.size(), Access{0, NO_SWITCH, 0});
    for (uint32_t link = 0; link < GetNLinks(); ++link)
    {
        const FabricDirection& direction = m_directions[link];
        if (IsSwitch(direction.toNode) || !IsSwitch(direction.fromNode))
        {
            continue;
        }
        const uint32_t switchIndex = direction.fromNode - m_hosts;
        if (leafOf[switchIndex] == NO_SWITCH)
        {
            leafOf[switchIndex] = m_leaves++;
            m_leafSwitch.push_back(switchIndex);
        }
        m_access[link] = Access{leafOf[switchIndex], switchIndex, direction.fromPort};
    }
}

std::vector<uint8_t>
FabricMap::DistancesTo(uint32_t leafSwitch) const
{
    std::vector<uint8_t> distance(m_seeds.size(), UNREACHED);
    std::vector<uint32_t> frontier{leafSwitch};
    distance[leafSwitch] = 0;
    for (uint8_t hops = 1; !frontier.empty() && hops < UNREACHED; ++hops)
    {
        std::vector<uint32_t> next;
        for (const uint32_t at : frontier)
        {
            for (const uint32_t link : m_ports[m_hosts + at])
            {
                const uint32_t peer = m_directions[link].toNode;
                if (IsSwitch(peer) && !IsDown(link) && distance[peer - m_hosts] == UNREACHED)
                {
                    distance[peer - m_hosts] = hops;
                    next.push_back(peer - m_hosts);
                }
            }
        }
        frontier.swap(next);
    }
    return distance;
}

void
FabricDirection::SetRate(drydock::Bandwidth bandwidth)
{
    constexpr int64_t psPerSecondAndByte = 8'000'000'000'000;
    const int64_t bps = bandwidth.bits_per_second();
    rate = bandwidth;
    psPerByte = (psPerSecondAndByte + bps - 1) / bps;
    exact = psPerSecondAndByte % bps == 0;
}

void
FabricMap::SetRate(uint32_t link, drydock::Bandwidth rate)
{
    m_directions[link].SetRate(rate);
}

void
FabricMap::Reroute(std::vector<bool> down)
{
    if (!m_unbroken)
    {
        m_unbroken = std::make_shared<const FabricMap>(*this);
    }
    m_down = std::move(down);
    AddRoutes();
}

void
FabricMap::AddRoutes()
{
    const size_t switches = m_seeds.size();
    m_sets.clear();
    m_setPorts.clear();
    m_routes.assign(switches * m_leaves, 0);
    m_distance.assign(size_t{m_leaves} * m_leaves, UNREACHED);
    std::vector<std::vector<uint8_t>> distances;
    for (uint32_t leaf = 0; leaf < m_leaves; ++leaf)
    {
        distances.push_back(DistancesTo(m_leafSwitch[leaf]));
        for (uint32_t other = 0; other < m_leaves; ++other)
        {
            m_distance[size_t{other} * m_leaves + leaf] = distances[leaf][m_leafSwitch[other]];
        }
    }
    m_sets.push_back({0, 0});
    std::vector<uint16_t> ports;
    for (uint32_t at = 0; at < switches; ++at)
    {
        SetStore store(m_setPorts);
        std::map<uint32_t, uint32_t> setAt; // position of the ports -> number of the set
        for (uint32_t leaf = 0; leaf < m_leaves; ++leaf)
        {
            const std::vector<uint8_t>& distance = distances[leaf];
            if (distance[at] == 0 || distance[at] == UNREACHED)
            {
                continue;
            }
            ports.clear();
            for (const uint32_t link : m_ports[m_hosts + at])
            {
                const uint32_t peer = m_directions[link].toNode;
                if (IsSwitch(peer) && !IsDown(link) && distance[peer - m_hosts] + 1 == distance[at])
                {
                    ports.push_back(m_directions[link].fromPort);
                }
            }
            const uint32_t first = store.Find(ports);
            const auto [it, added] = setAt.emplace(first, m_sets.size());
            if (added)
            {
                m_sets.push_back({first, static_cast<uint32_t>(ports.size())});
            }
            m_routes[size_t{at} * m_leaves + leaf] = it->second;
        }
    }
}

uint8_t
FabricMap::Distance(uint32_t from, uint32_t to) const
{
    if (IsDown(from) || IsDown(to))
    {
        return UNREACHED;
    }
    const Access& start = m_access[from ^ 1];
    const Access& end = m_access[to];
    if (start.switchIndex == NO_SWITCH || end.switchIndex == NO_SWITCH)
    {
        return from == to ? 0 : UNREACHED; // a cable from NIC to NIC
    }
    const uint8_t between = m_distance[size_t{start.leaf} * m_leaves + end.leaf];
    return between == UNREACHED ? UNREACHED : static_cast<uint8_t>(between + 1);
}

uint32_t
FabricMap::GetMostHops() const
{
    uint32_t most = 0;
    for (const uint8_t distance : m_distance)
    {
        if (distance != UNREACHED)
        {
            most = std::max(most, distance + 1U);
        }
    }
    return most;
}

std::string
FabricMap::NameOf(uint32_t node) const
{
    return IsSwitch(node) ? m_switchNames[node - m_hosts] : fmt::format("host {}", node);
}

std::optional<FabricMap::AccessPair>
FabricMap::PickAccess(uint32_t fromHost, int fromNic, uint32_t toHost, int toNic, uint32_t path)
    const
{
    std::vector<AccessPair> best;
    uint8_t least = UNREACHED;
    for (const uint32_t from : m_ports[fromHost])
    {
        for (const uint32_t out : m_ports[toHost])
        {
            const uint32_t to = out ^ 1;
            if (m_directions[from].fromNic != fromNic || m_directions[to].toNic != toNic)
            {
                continue;
            }
            const uint8_t distance = Distance(from, to);
            if (distance < least)
            {
                best.clear();
                least = distance;
            }
            if (distance == least && distance != UNREACHED)
            {
                best.push_back({from, to});
            }
        }
    }
    if (best.empty())
    {
        return m_unbroken ? m_unbroken->PickAccess(fromHost, fromNic, toHost, toNic, path)
                          : std::nullopt;
    }
    return best[ScaleHash(Mix(path), static_cast<uint32_t>(best.size()))];
}

FabricMap::PathTime
FabricMap::MeasurePath(AccessPair ends, uint32_t path, int64_t wireBytes) const
{
    if (m_unbroken)
    {
        return m_unbroken->MeasurePath(ends, path, wireBytes);
    }
    PathTime measured{0, 0, 0};
    uint32_t link = ends.first;
    int64_t begin = 0; // at the present link: the first bits that can go on
    int64_t whole = 0; // and the last
    for (;;)
    {
        const FabricDirection& direction = m_directions[link];
        const auto occupancy = [&direction](int64_t bytes) {
            return direction.made.TimeFor(drydock::Bytes(bytes)).ps();
        };
        const int64_t all = occupancy(wireBytes);
        const int64_t end = std::max(begin + all, whole);
        measured.slowest = std::max(measured.slowest, all);
        whole = end + direction.delay;
        if (link == ends.second)
        {
            measured.time = whole;
            return measured;
        }
        CHECK(IsSwitch(direction.toNode));
        const int64_t head = m_cutThrough > 0 ? std::min(occupancy(m_cutThrough), all) : all;
        begin = end - all + head + direction.delay;
        ++measured.switches;
        const uint16_t port = NextPort(direction.toNode - m_hosts, ends.second, path);
        link = m_ports[direction.toNode][port];
    }
}

int64_t
FabricMap::GetLookahead(int64_t smallestFrame) const
{
    int64_t lookahead = NEVER;
    for (const FabricDirection& direction : m_directions)
    {
        lookahead = std::min(lookahead, direction.delay + direction.Occupancy(smallestFrame));
    }
    return lookahead;
}

} // namespace ns3::rdma
