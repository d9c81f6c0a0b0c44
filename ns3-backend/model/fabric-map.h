#ifndef DRYDOCK_NS3_BACKEND_FABRIC_MAP_H
#define DRYDOCK_NS3_BACKEND_FABRIC_MAP_H

#include "core/model/topology.h"
#include "ns3-backend/model/frame.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::rdma
{

/// One direction of a cable.
struct FabricDirection
{
    uint32_t fromNode;       //!< hosts first, then switches
    uint32_t toNode;         //!< likewise
    uint16_t fromPort;       //!< of the node
    uint16_t toPort;         //!< of the node
    int16_t fromNic;         //!< -1 at a switch
    int16_t toNic;           //!< -1 at a switch
    int64_t delay;           //!< of the cable, plus the latency of the switch it leads to, ps
    int64_t psPerByte;       //!< rounded up
    drydock::Bandwidth rate; //!< at present
    drydock::Bandwidth made; //!< the same without faults

    /// How long \p bytes occupy it, ps, rounded up.
    int64_t Occupancy(int64_t bytes) const
    {
        return exact ? bytes * psPerByte : rate.TimeFor(drydock::Bytes(bytes)).ps();
    }

    void SetRate(drydock::Bandwidth rate);

    bool exact; //!< a byte takes a whole number of picoseconds
};

/**
 * \brief Where every cable leads and which ports are on a shortest way to where.
 *
 * Link 2c is cable c of the Topology from its end a to its end b, 2c + 1 the reverse; `link ^ 1` is
 * always the other direction. Ports of a node are numbered in the order of its cables.
 *
 * Routes are kept per *leaf* (a switch with NICs), not per NIC: a table of switches x leaves holds
 * the number of a set of ports, and equal sets are stored once. 2,048 hosts with 8 NICs on 512
 * leaves and 512 spines need 2 MB.
 *
 * ECMP: among the ports of a set, one is chosen by the hash of the frame's path and the seed of the
 * switch, so a queue pair keeps its way and switches choose independently of one another.
 *
 * Immutable once built, so all threads read it.
 */
class FabricMap
{
  public:
    /// The topology must be valid (ValidateFabric).
    explicit FabricMap(const drydock::Topology& topology);

    uint32_t GetNHosts() const
    {
        return m_hosts;
    }

    uint32_t GetNSwitches() const
    {
        return static_cast<uint32_t>(m_seeds.size());
    }

    uint32_t GetNLinks() const
    {
        return static_cast<uint32_t>(m_directions.size());
    }

    const FabricDirection& GetDirection(uint32_t link) const
    {
        return m_directions[link];
    }

    /// Outgoing links of a node, by port.
    const std::vector<uint32_t>& GetPorts(uint32_t node) const
    {
        return m_ports[node];
    }

    /// "host 3", or the name of a switch.
    std::string NameOf(uint32_t node) const;

    /// Between windows: the present rate of one direction, at most what it was made with.
    void SetRate(uint32_t link, drydock::Bandwidth rate);

    /// Before the nodes are wired: switches pass a frame on when so many bytes of it are there; 0,
    /// the default: when all are.
    void SetCutThrough(int64_t bytes)
    {
        m_cutThrough = bytes;
    }

    int64_t GetCutThrough() const
    {
        return m_cutThrough;
    }

    bool IsSwitch(uint32_t node) const
    {
        return node >= m_hosts;
    }

    /// Between windows: finds routes again, none of them over links that are \p down, by number.
    void Reroute(std::vector<bool> down);

    /// As it was made.
    const FabricMap& GetUnbroken() const
    {
        return m_unbroken ? *m_unbroken : *this;
    }

    /// Before the run. Default: a hash of the switch's index.
    void SetSeed(uint32_t switchIndex, uint32_t seed)
    {
        m_seeds[switchIndex] = seed;
    }

    uint32_t GetSeed(uint32_t switchIndex) const
    {
        return m_seeds[switchIndex];
    }

    /// The ports of a switch by which the link \p to is nearest; none if faults have cut it off.
    std::span<const uint16_t> GetNextPorts(uint32_t switchIndex, uint32_t to) const
    {
        const Access& access = m_access[to];
        if (access.switchIndex == switchIndex)
        {
            return {&access.port, 1};
        }
        const PortSet set = m_sets[m_routes[uint64_t{switchIndex} * m_leaves + access.leaf]];
        return {&m_setPorts[set.first], set.count};
    }

    /// Which of \p ports of a switch is for \p path.
    uint32_t Choose(uint32_t switchIndex, std::span<const uint16_t> ports, uint32_t path) const
    {
        return ports.size() == 1 ? 0
                                 : ScaleHash(Mix(path ^ m_seeds[switchIndex]),
                                             static_cast<uint32_t>(ports.size()));
    }

    /// The port by which a queue pair leaves a switch, with ECMP.
    uint16_t NextPort(uint32_t switchIndex, uint32_t to, uint32_t path) const
    {
        const std::span<const uint16_t> ports = GetNextPorts(switchIndex, to);
        return ports[Choose(switchIndex, ports, path)];
    }

    /// A direction from a NIC into the fabric and one from the fabric to a NIC.
    using AccessPair = std::pair<uint32_t, uint32_t>;

    /**
     * The two ends of the way of a queue pair: where NICs have several cables, those between which
     * the way is shortest, by \p path among equals. Where faults have cut all ways, those as if
     * nothing were broken: a queue pair knows its peer, and sends into the void. Nothing if there
     * never is a way.
     */
    std::optional<AccessPair> PickAccess(uint32_t fromHost,
                                         int fromNic,
                                         uint32_t toHost,
                                         int toNic,
                                         uint32_t path) const;

    /// What a frame of a queue pair meets when nothing else is about and nothing is broken.
    struct PathTime
    {
        int64_t time;    //!< from first bit out to last bit in, ps
        int64_t slowest; //!< largest occupancy of one frame on one link, ps
        uint32_t switches;
    };

    /// Most switches between two NICs of different hosts that reach each other.
    uint32_t GetMostHops() const;

    PathTime MeasurePath(AccessPair ends, uint32_t path, int64_t wireBytes) const;

    /**
     * No event of one node has an effect on another before this much later: the least of delay
     * plus the occupancy of the smallest frame. NEVER without links.
     */
    int64_t GetLookahead(int64_t smallestFrame) const;

    /// Spreads a value over all bits (the finaliser of MurmurHash3, public domain).
    static uint32_t Mix(uint32_t value)
    {
        value ^= value >> 16;
        value *= 0x85ebca6bU;
        value ^= value >> 13;
        value *= 0xc2b2ae35U;
        return value ^ (value >> 16);
    }

    /// A hash as a number below \p count.
    static uint32_t ScaleHash(uint32_t hash, uint32_t count)
    {
        return static_cast<uint32_t>((uint64_t{hash} * count) >> 32);
    }

  private:
    /// How a direction that ends at a NIC is reached.
    struct Access
    {
        uint32_t leaf;        //!< number among the leaves
        uint32_t switchIndex; //!< of that leaf; NO_SWITCH where the cable starts at a NIC
        uint16_t port;        //!< of that leaf
    };

    struct PortSet
    {
        uint32_t first;
        uint32_t count;
    };

    static constexpr uint32_t NO_SWITCH = UINT32_MAX;
    static constexpr uint8_t UNREACHED = UINT8_MAX;

    void AddDirections(const drydock::Topology& topology);
    void NumberLeaves();
    void AddRoutes();
    std::vector<uint8_t> DistancesTo(uint32_t leafSwitch) const;
    /// Number of hops between the ends, UNREACHED if none.
    uint8_t Distance(uint32_t from, uint32_t to) const;
    bool IsDown(uint32_t link) const
    {
        return !m_down.empty() && m_down[link];
    }

    uint32_t m_hosts;
    int64_t m_cutThrough = 0; //!< bytes
    uint32_t m_leaves = 0;
    std::vector<FabricDirection> m_directions;
    std::vector<bool> m_down;                    //!< by link; empty: none
    std::shared_ptr<const FabricMap> m_unbroken; //!< as it was made; null until the first Reroute
    std::vector<std::vector<uint32_t>> m_ports;
    std::vector<Access> m_access;       //!< by link; meaningful for those that end at a NIC
    std::vector<uint32_t> m_leafSwitch; //!< by leaf
    std::vector<uint8_t> m_distance;    //!< by leaf and leaf
    std::vector<uint32_t> m_routes;     //!< by switch and leaf: number of a set
    std::vector<PortSet> m_sets;        //!< the first is empty: no way
    std::vector<uint16_t> m_setPorts;
    std::vector<uint32_t> m_seeds;
    std::vector<std::string> m_switchNames;
};

/// Whether frames may get lost: switches drop them, or faults lose them.
bool LosesFrames(const drydock::Topology& topology);

/// What the packet network cannot simulate, each with the place in the topology.
drydock::Status ValidateFabric(const drydock::Topology& topology);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_FABRIC_MAP_H
