#include "ns3-backend/model/host/announcement-box.h"

#include "ns3-backend/model/host/rdma-host.h"

namespace ns3::rdma
{

AnnouncementBox::AnnouncementBox(RdmaHost* receiver)
    : Mailbox(receiver, NAME),
      m_host(receiver)
{
}

void
AnnouncementBox::Deliver()
{
    for (const Announcement& announcement : announcements)
    {
        m_host->Announce(announcement);
    }
    announcements.clear();
}

int64_t
AnnouncementBox::EarliestTime() const
{
    return NEVER; // an announcement causes no event before the first packet
}

void
AnnouncementBox::Pack(std::string* parcel)
{
    drydock::Pack(announcements, parcel);
    announcements.clear();
}

} // namespace ns3::rdma
