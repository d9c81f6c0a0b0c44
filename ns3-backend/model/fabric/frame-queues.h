#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FRAME_QUEUES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FRAME_QUEUES_H_

#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/model/wire/pause-table.h"
#include "ns3-backend/model/wire/telemetry.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief The frames that wait in a switch: a FIFO for each port and class, in one pool.
 *
 * An empty queue takes 16 bytes. The pool grows to the maximum number of frames that waited at the
 * same time.
 */
class FrameQueues
{
  public:
    void Configure(uint16_t ports)
    {
        m_queues.resize(size_t{ports} * CLASSES);
        m_classes.resize(ports);
    }

    /// Returns the classes that have frames waiting for \p port, one bit each.
    uint8_t GetClasses(uint16_t port) const
    {
        return m_classes[port];
    }

    int64_t GetBytes(uint16_t port, uint8_t priority) const
    {
        return m_queues[size_t{port} * CLASSES + priority].bytes;
    }

    /// Returns the first frame of a queue.
    /// REQUIRES: the queue is not empty.
    const Frame& Head(uint16_t port, uint8_t priority) const
    {
        return m_pool[m_queues[size_t{port} * CLASSES + priority].head].frame;
    }

    /// Appends \p frame of \p size bytes, with its \p telemetry if it has Frame::INT, to the queue
    /// of \p port and its class. Returns the copy that waits, valid until the next call.
    Frame& Push(uint16_t port,
                uint16_t inPort,
                const Frame& frame,
                int64_t size,
                const Telemetry& telemetry)
    {
        const uint32_t slot = Allocate();
        m_pool[slot] = Slot{frame, NONE, inPort};
        if (frame.flags & Frame::INT) [[unlikely]]
        {
            m_telemetry.resize(std::max(m_telemetry.size(), size_t{slot} + 1));
            m_telemetry[slot] = telemetry;
        }
        Queue& queue = m_queues[size_t{port} * CLASSES + frame.priority];
        if (queue.head == NONE)
        {
            queue.head = slot;
            m_classes[port] |= ClassBit(frame.priority);
        }
        else
        {
            m_pool[queue.tail].next = slot;
        }
        queue.tail = slot;
        queue.bytes += size;
        return m_pool[slot].frame;
    }

    /// Takes the first frame of a queue, of \p size bytes. Returns the port that it arrived by.
    uint16_t Pop(uint16_t port, uint8_t priority, int64_t size, Frame* frame, Telemetry* telemetry)
    {
        Queue& queue = m_queues[size_t{port} * CLASSES + priority];
        const uint32_t freed = queue.head;
        Slot& slot = m_pool[freed];
        *frame = slot.frame;
        if (frame->flags & Frame::INT) [[unlikely]]
        {
            *telemetry = m_telemetry[freed];
        }
        queue.head = slot.next;
        queue.bytes -= size;
        if (queue.head == NONE)
        {
            m_classes[port] &= static_cast<uint8_t>(~ClassBit(priority));
        }
        slot.next = m_free;
        m_free = freed;
        return slot.inPort;
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    /// A chain through the pool.
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
        uint16_t inPort;
    };

    uint32_t Allocate()
    {
        if (m_free == NONE)
        {
            m_pool.emplace_back();
            return static_cast<uint32_t>(m_pool.size() - 1);
        }
        const uint32_t slot = m_free;
        m_free = m_pool[slot].next;
        return slot;
    }

    std::vector<Queue> m_queues; //!< by port and class
    std::vector<uint8_t> m_classes;
    std::vector<Slot> m_pool;
    std::vector<Telemetry> m_telemetry; //!< by slot; as long as frames with INT need
    uint32_t m_free = NONE;             //!< chain of free slots
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FRAME_QUEUES_H_
