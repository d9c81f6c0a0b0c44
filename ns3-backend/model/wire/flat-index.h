#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_FLAT_INDEX_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_FLAT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief From a 64-bit key to a small number, for the look-up each data packet needs.
 *
 * Open addressing, at most half full, nothing is ever removed or iterated over.
 */
class FlatIndex
{
  public:
    /// The number of \p key; where it is new, \p fresh, which is kept.
    uint32_t FindOrAdd(uint64_t key, uint32_t fresh)
    {
        if (2 * (m_count + 1) > m_slots.size())
        {
            Grow();
        }
        Slot& slot = m_slots[Position(key)];
        if (slot.number == NONE)
        {
            slot = Slot{key, fresh};
            ++m_count;
        }
        return slot.number;
    }

    static constexpr uint32_t NONE = UINT32_MAX;

    /// The number of \p key, NONE if it was never added.
    uint32_t Find(uint64_t key) const
    {
        return m_slots.empty() ? NONE : m_slots[Position(key)].number;
    }

  private:
    struct Slot
    {
        uint64_t key = 0;
        uint32_t number = NONE;
    };

    /// Where \p key is, or the free slot where it would be.
    size_t Position(uint64_t key) const
    {
        const size_t mask = m_slots.size() - 1;
        size_t at = (key * 0x9e3779b97f4a7c15U) >> 32 & mask;
        while (m_slots[at].number != NONE && m_slots[at].key != key)
        {
            at = (at + 1) & mask;
        }
        return at;
    }

    void Grow()
    {
        std::vector<Slot> old(m_slots.empty() ? 8 : 2 * m_slots.size());
        old.swap(m_slots);
        for (const Slot& slot : old)
        {
            if (slot.number != NONE)
            {
                m_slots[Position(slot.key)] = slot;
            }
        }
    }

    std::vector<Slot> m_slots;
    size_t m_count = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_FLAT_INDEX_H_
