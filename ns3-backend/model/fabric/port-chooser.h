#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_PORT_CHOOSER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_PORT_CHOOSER_H_

#include "core/base/check.h"
#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/frame.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::rdma
{

/// How a switch chooses among equally short paths.
enum Routing
{
    ECMP,     //!< by the hash of the queue pair
    FLOWLET,  //!< the same, with a new choice after each gap of the queue pair
    ADAPTIVE, //!< the port that will be free first, packet by packet
    SPRAY,    //!< by the hash of the packet
};

/**
 * \brief Chooses, for one switch, the port by which a frame leaves.
 *
 * Acknowledgements and other control frames keep the path of their queue pair. Times in ps.
 */
class PortChooser
{
  public:
    /// \p map outlives this. A queue pair that was idle for more than \p flowletGap may change its
    /// path. The switch distinguishes 2 to the power of \p tableBits flowlets.
    void Configure(const FabricMap* map,
                   uint32_t switchIndex,
                   Routing routing,
                   int64_t flowletGap,
                   uint32_t tableBits)
    {
        m_map = map;
        m_switch = switchIndex;
        m_routing = routing;
        m_flowletGap = flowletGap;
        m_tableBits = tableBits;
    }

    /// Returns one of \p ports. \p waitAt returns how long a frame would wait at a port.
    /// REQUIRES: \p ports is not empty.
    template <typename WaitAt>
    uint16_t Choose(const Frame& frame, std::span<const uint16_t> ports, int64_t now, WaitAt waitAt)
    {
        if (m_routing == ECMP || ports.size() == 1 || frame.IsControl())
        {
            return ports[m_map->Choose(m_switch, ports, frame.path)];
        }
        switch (m_routing)
        {
        case FLOWLET:
            return ports[m_map->Choose(m_switch, ports, frame.path ^ FlowletOf(frame, now))];
        case SPRAY:
            return ports[OfPacket(frame, ports)];
        default:
            CHECK(m_routing == ADAPTIVE);
            return ShortestWait(frame, ports, waitAt);
        }
    }

  private:
    struct Flowlet
    {
        int64_t last = 0; //!< when its last packet arrived
        uint32_t number = 0;
    };

    uint32_t OfPacket(const Frame& frame, std::span<const uint16_t> ports) const
    {
        return m_map->Choose(m_switch, ports, frame.path ^ FabricMap::EcmpHash(frame.psn));
    }

    /// Returns a hash of the frame's flowlet.
    uint32_t FlowletOf(const Frame& frame, int64_t now)
    {
        // A hash table as in switches: queue pairs that collide share their flowlets.
        const size_t slots = size_t{1} << m_tableBits;
        if (m_flowlets.empty())
        {
            m_flowlets.resize(slots);
        }
        Flowlet& flowlet = m_flowlets[FabricMap::EcmpHash(frame.path) & (slots - 1)];
        if (now - flowlet.last > m_flowletGap)
        {
            ++flowlet.number;
        }
        flowlet.last = now;
        return FabricMap::EcmpHash(flowlet.number);
    }

    template <typename WaitAt>
    uint16_t ShortestWait(const Frame& frame, std::span<const uint16_t> ports, WaitAt waitAt) const
    {
        // The packet breaks ties, so that all idle ports are used.
        const uint32_t first = OfPacket(frame, ports);
        uint16_t best = ports[first];
        int64_t shortest = NEVER;
        for (uint32_t i = 0; i < ports.size() && shortest > 0; ++i)
        {
            const uint16_t port = ports[(first + i) % ports.size()];
            const int64_t wait = waitAt(port);
            if (wait < shortest)
            {
                shortest = wait;
                best = port;
            }
        }
        return best;
    }

    const FabricMap* m_map = nullptr;
    uint32_t m_switch = 0;
    Routing m_routing = ECMP;
    int64_t m_flowletGap = 0;
    uint32_t m_tableBits = 0;
    std::vector<Flowlet> m_flowlets; //!< by hash; allocated with the first flowlet
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_PORT_CHOOSER_H_
