#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_TELEMETRY_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_TELEMETRY_H_

#include <array>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief What switches write into a packet on its way (INT), and the receiver sends back.
 *
 * It travels beside the frame, not in it: a link's queues hold one for each frame with Frame::INT,
 * in the order of these frames. Nothing else pays for it.
 */
struct Telemetry
{
    struct Hop
    {
        uint32_t link = 0; //!< that it left by
        int64_t time = 0;  //!< when the packet began to leave, ps
        uint64_t sent = 0; //!< bytes that the port has sent before it
        int64_t queue = 0; //!< bytes that wait behind it at the port
        int64_t rate = 0;  //!< of the port, bits per second
    };

    static constexpr uint32_t MOST_HOPS = 8;

    void Add(const Hop& hop)
    {
        hops[count++] = hop;
    }

    uint32_t count = 0;
    std::array<Hop, MOST_HOPS> hops; //!< in the order of the way
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_TELEMETRY_H_
