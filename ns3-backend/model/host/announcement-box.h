#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_ANNOUNCEMENT_BOX_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_ANNOUNCEMENT_BOX_H_

#include "ns3-backend/model/host/rdma-receiver.h"
#include "ns3-backend/model/simulator/partition.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::rdma
{

class RdmaHost;

/**
 * \brief Announcements to one host from the hosts of one thread.
 *
 * The bytes of a message travel as frames. Its id, tag and cookie, which real headers would carry,
 * are delivered separately to keep frames small. An announcement arrives at the end of the window
 * in which the message was sent, before any frame of the message.
 */
class AnnouncementBox : public Mailbox
{
  public:
    /// Not the name of a port.
    static constexpr uint32_t NAME = UINT32_MAX;

    explicit AnnouncementBox(RdmaHost* receiver);
    void Deliver() override;
    int64_t EarliestTime() const override;
    void Pack(std::string* parcel) override;

    std::vector<Announcement> announcements;

  private:
    RdmaHost* m_host;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_ANNOUNCEMENT_BOX_H_
