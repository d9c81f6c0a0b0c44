#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_SHARED_BUFFER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_SHARED_BUFFER_H_

#include "ns3-backend/model/wire/pause-table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// What a switch does when its buffer fills up.
enum FlowControl
{
    IDEAL, //!< keeps all frames, and counts the frames over the size of its buffer
    PFC,   //!< pauses the sender of a lossless class in time (IEEE 802.1Qbb)
    LOSSY, //!< drops frames over the share of their queue
    TRIM,  //!< the same, but keeps the header of a packet
};

/**
 * \brief The packet memory of a switch: which frames are admitted, and which senders are paused.
 *
 * A frame is charged to the queue in which it waits and to the port by which it arrived. The shares
 * are dynamic thresholds (Choudhury and Hahne, ToN 1998): alpha times the free bytes. For lossless
 * classes the share belongs to the input port. Above its share the peer of that port is paused;
 * frames that are still in flight go into the headroom of that port. Sizes in bytes.
 */
class SharedBuffer
{
  public:
    struct Config
    {
        FlowControl control = IDEAL;
        int64_t size = 0; //!< 0: unknown, no frame counts as over it
        double pauseAlpha = 0;
        double dropAlpha = 0;
        int64_t resumeOffset = 0;
        uint8_t lossless = 0; //!< classes, one bit each
    };

    /// \p headroom is by port.
    /// REQUIRES: with PFC the sum of the headroom is below the size.
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
        m_maxUsed = std::max(m_maxUsed, m_used);
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

    /// Whether the input port is over its share.
    /// REQUIRES: IsLossless(priority).
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

    /// Returns the maximum number of bytes that ever waited.
    int64_t GetMaxUsed() const
    {
        return m_maxUsed;
    }

    /// Returns the number of frames that waited while the buffer was over its size.
    uint64_t GetFramesOver() const
    {
        return m_over;
    }

  private:
    int64_t ShareOf(double alpha) const
    {
        const int64_t free = std::max<int64_t>(0, m_shared - m_used);
        // Alpha may be a million: the product may exceed int64_t.
        return static_cast<int64_t>(std::min(alpha * static_cast<double>(free), 0x1p62));
    }

    Config m_config;
    std::vector<int64_t> m_headroom; //!< by port
    int64_t m_shared = 0;            //!< the size without all headroom
    int64_t m_used = 0;
    int64_t m_maxUsed = 0;
    uint64_t m_over = 0;
    std::vector<std::array<int64_t, CLASSES>> m_ingress; //!< bytes by input port and class
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_SHARED_BUFFER_H_
