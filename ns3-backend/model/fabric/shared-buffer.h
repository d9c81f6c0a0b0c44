#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_SHARED_BUFFER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_SHARED_BUFFER_H_

#include "ns3-backend/model/wire/pause-table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// What a switch does with frames that it has to keep waiting.
enum FlowControl
{
    IDEAL, //!< keeps them all, and counts what a buffer of its size could not
    PFC,   //!< pauses the sender of a lossless class before room runs out (IEEE 802.1Qbb)
    LOSSY, //!< drops what is over a queue's share
    TRIM,  //!< the same, but the header of a packet goes on
};

/**
 * \brief The packet memory of a switch: who may wait in it, and who has to be stopped.
 *
 * Frames are charged twice: to the queue they wait in, and to the port they came in by. The shares
 * are dynamic thresholds (Choudhury and Hahne, ToN 1998): alpha times what is free. For lossless
 * classes the share belongs to the port of entry. Above it that port's peer is paused; what is
 * still on the way then goes into the port's headroom, which nobody else can use. Sizes in bytes.
 */
class SharedBuffer
{
  public:
    struct Config
    {
        FlowControl control = IDEAL;
        int64_t size = 0; //!< 0: unknown, nothing is over it
        double pauseAlpha = 0;
        double dropAlpha = 0;
        int64_t resumeOffset = 0;
        uint8_t lossless = 0; //!< classes, one bit each
    };

    /// \p headroom is by port; with PFC their sum must be below the size.
    void Configure(const Config& config, std::vector<int64_t> headroom)
    {
        m_config = config;
        m_headroom = std::move(headroom);
        m_shared = config.size;
        for (const int64_t bytes : m_headroom)
        {
            m_shared -= config.control == PFC ? bytes : 0;
        }
        if (config.control == PFC)
        {
            m_ingress.resize(m_headroom.size());
        }
    }

    /// Whether a frame may wait in a queue that holds \p queued bytes.
    bool Admits(uint8_t priority, int64_t queued, int64_t bytes) const
    {
        if (m_config.control == IDEAL)
        {
            return true;
        }
        if (m_used + bytes > m_config.size)
        {
            return false;
        }
        return IsLossless(priority) || queued + bytes <= ShareOf(m_config.dropAlpha);
    }

    void Add(uint16_t inPort, uint8_t priority, int64_t bytes)
    {
        m_used += bytes;
        m_most = std::max(m_most, m_used);
        m_over += m_config.size != 0 && m_used > m_config.size ? 1 : 0;
        if (IsLossless(priority))
        {
            m_ingress[inPort][priority] += bytes;
        }
    }

    void Remove(uint16_t inPort, uint8_t priority, int64_t bytes)
    {
        m_used -= bytes;
        if (IsLossless(priority))
        {
            m_ingress[inPort][priority] -= bytes;
        }
    }

    /// Lossless classes exist only with PFC.
    bool IsLossless(uint8_t priority) const
    {
        return m_config.control == PFC && (m_config.lossless & ClassBit(priority));
    }

    /// Whether the port of entry is over its share; IsLossless(priority).
    bool MustPause(uint16_t inPort, uint8_t priority) const
    {
        return m_ingress[inPort][priority] > ShareOf(m_config.pauseAlpha);
    }

    bool MayResume(uint16_t inPort, uint8_t priority) const
    {
        const int64_t held = m_ingress[inPort][priority];
        return held == 0 || held <= ShareOf(m_config.pauseAlpha) - m_config.resumeOffset;
    }

    int64_t GetUsed() const
    {
        return m_used;
    }

    /// Most bytes that ever waited.
    int64_t GetMost() const
    {
        return m_most;
    }

    /// Frames that had to wait when the buffer was full.
    uint64_t GetFramesOver() const
    {
        return m_over;
    }

  private:
    int64_t ShareOf(double alpha) const
    {
        const int64_t free = std::max<int64_t>(0, m_shared - m_used);
        // The factor may be a million.
        return static_cast<int64_t>(std::min(alpha * static_cast<double>(free), 0x1p62));
    }

    Config m_config;
    std::vector<int64_t> m_headroom; //!< by port
    int64_t m_shared = 0;            //!< the size without all headroom
    int64_t m_used = 0;
    int64_t m_most = 0;
    uint64_t m_over = 0;
    std::vector<std::array<int64_t, CLASSES>> m_ingress; //!< bytes by port of entry and class
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_SHARED_BUFFER_H_
