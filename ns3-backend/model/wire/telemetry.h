#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_TELEMETRY_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_TELEMETRY_H_

#include <array>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief In-band telemetry (INT): records that switches write into a packet and the receiver sends
 * back.
 *
 * It travels beside the frame, not in it: a link's queues hold one Telemetry for each frame with
 * Frame::INT, in the order of these frames. Other frames do not pay for it.
 */
struct Telemetry
{
    struct Hop
    {
        uint32_t link = 0; //!< that the packet left by
        int64_t time = 0;  //!< when the packet began to leave, ps
        uint64_t sent = 0; //!< bytes that the port had sent before the packet
        int64_t queue = 0; //!< bytes that wait behind the packet at the port
        int64_t rate = 0;  //!< of the port, bits per second
    };

    static constexpr uint32_t MAX_HOPS = 8;

    void Add(const Hop& hop)
    {
        hops[count++] = hop;
    }

    uint32_t count = 0;
    std::array<Hop, MAX_HOPS> hops; //!< in the order of the path
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_TELEMETRY_H_
