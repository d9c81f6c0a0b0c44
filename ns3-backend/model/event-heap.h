#ifndef DRYDOCK_NS3_BACKEND_EVENT_HEAP_H
#define DRYDOCK_NS3_BACKEND_EVENT_HEAP_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// When, and what: kind and number of the port or queue pair. Unique within a partition.
struct Event
{
    int64_t time; //!< ps
    uint64_t key; //!< order among events of one time

    bool operator<(const Event& o) const
    {
        return time < o.time || (time == o.time && key < o.key);
    }
};

/**
 * \brief The pending events of one partition, smallest (time, key) first.
 *
 * Ties are broken by what an event is, never by when it was inserted, so the order does not
 * depend on threads or on the partitioning. A heap of four children a node: a switch has at
 * most two events a port, all of which sit in the first-level cache.
 */
class EventHeap
{
  public:
    bool Empty() const
    {
        return m_heap.empty();
    }

    size_t Size() const
    {
        return m_heap.size();
    }

    const Event& Top() const
    {
        return m_heap.front();
    }

    void Push(Event event)
    {
        size_t hole = m_heap.size();
        m_heap.push_back(event);
        while (hole > 0)
        {
            const size_t parent = (hole - 1) / ARITY;
            if (!(event < m_heap[parent]))
            {
                break;
            }
            m_heap[hole] = m_heap[parent];
            hole = parent;
        }
        m_heap[hole] = event;
    }

    void Pop()
    {
        const Event last = m_heap.back();
        m_heap.pop_back();
        if (!m_heap.empty())
        {
            ReplaceTop(last);
        }
    }

    /// Pop and Push in one: half the work where an event makes its own successor.
    void ReplaceTop(Event event)
    {
        const size_t size = m_heap.size();
        size_t hole = 0;
        for (;;)
        {
            const size_t first = ARITY * hole + 1;
            if (first >= size)
            {
                break;
            }
            const size_t end = first + ARITY < size ? first + ARITY : size;
            size_t least = first;
            for (size_t child = first + 1; child < end; ++child)
            {
                least = m_heap[child] < m_heap[least] ? child : least;
            }
            if (!(m_heap[least] < event))
            {
                break;
            }
            m_heap[hole] = m_heap[least];
            hole = least;
        }
        m_heap[hole] = event;
    }

  private:
    static constexpr size_t ARITY = 4;
    std::vector<Event> m_heap;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_EVENT_HEAP_H
