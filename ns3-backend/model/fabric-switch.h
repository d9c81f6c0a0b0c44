#ifndef DRYDOCK_NS3_BACKEND_FABRIC_SWITCH_H
#define DRYDOCK_NS3_BACKEND_FABRIC_SWITCH_H

#include "ns3-backend/model/fabric-node.h"

#include <vector>

namespace ns3::rdma
{

/**
 * \brief An output-queued switch: one FIFO a port, in a buffer that all ports share.
 *
 * Store and forward: a frame is in the output queue once its last bit has arrived and the latency
 * of the switch has passed (both are part of the link's delay, see FabricMap). Among frames that
 * arrive at the same time the lower input port is first. Nothing is dropped and nobody is paused:
 * the buffer is as large as it needs to be, and what a real one of the attribute's size could not
 * have held is counted.
 */
class FabricSwitch : public FabricNode
{
  public:
    static TypeId GetTypeId();

    /// Before the run: the index of this switch and what the attributes say goes into the map.
    void Configure(FabricMap* map);

    // From Partition
    uint64_t Process(int64_t limit) override;
    int64_t NextTime() const override;

    /// Most bytes that ever waited at one port.
    int64_t GetMaxQueueBytes() const
    {
        return m_maxQueueBytes;
    }

    /// Most bytes that ever waited in the whole switch.
    int64_t GetMaxBufferBytes() const
    {
        return m_maxBufferBytes;
    }

    /// Frames that had to wait when the buffer was full.
    uint64_t GetFramesOverBuffer() const
    {
        return m_framesOverBuffer;
    }

  private:
    friend class FabricNode;

    /// Frames waiting at a port, chained through the pool.
    struct Queue
    {
        uint32_t head = NONE;
        uint32_t tail = NONE;
        int64_t bytes = 0;
    };

    struct Slot
    {
        Frame frame;
        uint32_t next;
    };

    static constexpr uint32_t NONE = UINT32_MAX;

    // For FabricNode::RunEvent
    void Arrive(uint16_t inPort, const Frame& frame);
    bool Next(uint16_t port, Frame* frame);

    bool Waiting(uint16_t port) const
    {
        return m_queues[port].head != NONE;
    }

    void Ready(uint32_t number);
    void Enqueue(uint16_t port, const Frame& frame);
    uint32_t Allocate();

    uint32_t m_seed = 0;         //!< attribute
    uint64_t m_bufferSize = 0;   //!< attribute
    uint32_t m_index = 0;        //!< among the switches
    std::vector<Queue> m_queues; //!< by port
    std::vector<Slot> m_pool;    //!< of frames that wait, shared by all ports
    uint32_t m_free = NONE;      //!< chain of free slots
    int64_t m_bufferBytes = 0;
    int64_t m_maxQueueBytes = 0;
    int64_t m_maxBufferBytes = 0;
    uint64_t m_framesOverBuffer = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_FABRIC_SWITCH_H
