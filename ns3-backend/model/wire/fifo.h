#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_FIFO_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_FIFO_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A queue in one contiguous block: 32 bytes when empty, no allocation in steady state.
 *
 * Space before the head is reclaimed when the queue is empty, or when it fills more than half of a
 * block that would otherwise have to grow. Push and Pop take amortized constant time.
 */
template <typename T>
class Fifo
{
  public:
    bool Empty() const
    {
        return m_head == m_items.size();
    }

    size_t Size() const
    {
        return m_items.size() - m_head;
    }

    T& Front()
    {
        return m_items[m_head];
    }

    const T& Front() const
    {
        return m_items[m_head];
    }

    T& operator[](size_t i)
    {
        return m_items[m_head + i];
    }

    const T& operator[](size_t i) const
    {
        return m_items[m_head + i];
    }

    void Push(const T& item)
    {
        MakeRoom(1);
        m_items.push_back(item);
    }

    void Pop()
    {
        if (++m_head == m_items.size())
        {
            m_items.clear();
            m_head = 0;
        }
    }

    /// Appends all of \p items and leaves it empty, with a spare block to fill again.
    void Take(std::vector<T>& items)
    {
        if (Empty())
        {
            m_items.swap(items);
            m_head = 0;
        }
        else
        {
            MakeRoom(items.size());
            m_items.insert(m_items.end(), items.begin(), items.end());
        }
        items.clear();
    }

  private:
    void MakeRoom(size_t count)
    {
        if (m_items.size() + count > m_items.capacity() && m_head > m_items.size() / 2)
        {
            m_items.erase(m_items.begin(), m_items.begin() + static_cast<ptrdiff_t>(m_head));
            m_head = 0;
        }
    }

    std::vector<T> m_items; //!< popped items first
    size_t m_head = 0;      //!< number of popped items
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_FIFO_H_
