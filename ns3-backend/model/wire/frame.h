#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_FRAME_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_FRAME_H_

#include <cstdint>

namespace ns3::rdma
{

/// A time after every event, in picoseconds.
inline constexpr int64_t NEVER = INT64_MAX;

/**
 * \brief What travels over a link, in place of an ns3::Packet.
 *
 * Plain data, copied by value: from the sender into the link's mailbox, from there into the
 * receiver's queue. A frame owns nothing and counts no references, so partitions on different
 * threads share only the mailboxes. Links are named by their number in the FabricMap.
 */
struct Frame
{
    enum Flags : uint8_t
    {
        ACK = 1,           //!< an acknowledgement; psn = number of packets that arrived in order
        ACK_REQUESTED = 2, //!< the receiver acknowledges this packet at once
        CE = 4,            //!< congestion experienced: a switch marked it; on an ACK, an echo
        NACK = 8,          //!< an ACK that also says that packet psn + payload is missing
        CNP = 16,          //!< congestion notification packet, to the sender of a marked packet
        PAUSE = 32,        //!< link-local: pause a class for `psn` quanta, 0 = resume (802.1Qbb)
        INT = 64,          //!< a Telemetry travels beside it; on an ACK, that of the packet
        TRIMMED = 128,     //!< the header alone: a switch had no room for the payload
    };

    int64_t time;         //!< last bit at the receiver, its latency included, ps
    uint32_t queuePair;   //!< number of the queue pair at its sending host
    uint32_t psn;         //!< packet sequence number within the queue pair, modulo 2^32
    uint32_t from;        //!< link from the NIC the frame starts at into the fabric
    uint32_t to;          //!< link from the fabric to the NIC the frame ends at
    uint32_t path;        //!< hash of the fields that an IP router hashes: the flow and both NICs
    uint16_t payload;     //!< bytes of the message in it
    uint8_t flags;        //!< of Flags
    uint8_t priority = 0; //!< traffic class

    bool IsAck() const
    {
        return flags & ACK;
    }

    /// Whether it carries no part of a message. Control frames are as long as an acknowledgement.
    bool IsControl() const
    {
        return flags & (ACK | CNP | PAUSE);
    }
};

static_assert(sizeof(Frame) == 32, "two frames to a cache line");

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_FRAME_H_
