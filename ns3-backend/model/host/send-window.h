#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_SEND_WINDOW_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_SEND_WINDOW_H_

#include <algorithm>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief How many bytes a queue pair may have in flight, and how many it has.
 *
 * A byte is in flight from when its packet is cut until the acknowledgement of that packet is back.
 * One packet always fits, however small the window is.
 */
class SendWindow
{
  public:
    /// \p bytes limits the window, even if the congestion control allows more.
    explicit SendWindow(int64_t bytes)
        : m_own(bytes),
          m_window(bytes)
    {
    }

    /// Applies what the congestion control allows.
    void Limit(int64_t bytes)
    {
        m_window = std::min(m_own, bytes);
    }

    /// Whether \p payload more bytes fit.
    bool Fits(int64_t payload) const
    {
        const int64_t inFlight = m_sent - m_acked;
        return inFlight == 0 || inFlight + payload <= m_window;
    }

    void Send(int64_t payload)
    {
        m_sent += payload;
    }

    /// Sending continues after the first \p bytes of all messages.
    void SetSent(int64_t bytes)
    {
        m_sent = bytes;
    }

    /// The first \p bytes of all messages are acknowledged.
    void SetAcked(int64_t bytes)
    {
        m_acked = bytes;
    }

    int64_t GetAcked() const
    {
        return m_acked;
    }

  private:
    int64_t m_own;
    int64_t m_window;
    int64_t m_sent = 0;
    int64_t m_acked = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_SEND_WINDOW_H_
