#include "ns3-backend/model/simulator/window-exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ns3::rdma
{

WindowExchange::WindowExchange(drydock::Processes* processes,
                               std::vector<Partition*> partitions,
                               uint32_t threads)
    : m_processes(processes),
      m_partitions(std::move(partitions)),
      m_remote(static_cast<size_t>(processes->count())),
      m_out(m_remote.size(), std::string(sizeof(Heading), '\0')),
      m_in(m_remote.size()),
      m_records(threads)
{
    for (uint32_t process = 0; process < m_remote.size(); ++process)
    {
        m_remote[process].index = threads + process;
        m_remote[process].threads = threads;
    }
}

void
WindowExchange::Adopt(Partition* partition, uint32_t process)
{
    partition->Adopt(&m_remote[process], 0);
}

void
WindowExchange::Collect(ThreadContext& sender)
{
    for (size_t process = 0; process < m_out.size(); ++process)
    {
        std::vector<Mailbox*>& posted = sender.posted[m_remote[process].index];
        std::string& parcel = m_out[process];
        for (Mailbox* mailbox : posted)
        {
            const size_t at = parcel.size();
            Label label{mailbox->GetReceiver()->GetNumber(), mailbox->GetName(), 0};
            drydock::Pack(label, &parcel);
            mailbox->Pack(&parcel);
            label.bytes = parcel.size() - at - sizeof(Label);
            std::memcpy(parcel.data() + at, &label, sizeof(Label));
        }
        posted.clear();
    }
}

void
WindowExchange::Run(int64_t earliest, bool stop)
{
    const Heading heading{earliest, stop};
    for (std::string& parcel : m_out)
    {
        std::memcpy(parcel.data(), &heading, sizeof(Heading));
    }
    m_processes->Exchange(m_out, &m_in);
    m_earliest = earliest;
    m_stop = m_stop || stop;
    for (size_t process = 0; process < m_out.size(); ++process)
    {
        m_out[process].resize(sizeof(Heading));
        Sort(m_in[process]);
    }
}

void
WindowExchange::Sort(const std::string& parcel)
{
    if (parcel.empty())
    {
        return; // this process
    }
    drydock::Unpacker rest(parcel);
    const auto heading = rest.Take<Heading>();
    m_earliest = std::min(m_earliest, heading.earliest);
    m_stop = m_stop || heading.stop != 0;
    while (!rest.empty())
    {
        const auto label = rest.Take<Label>();
        Partition* partition = m_partitions[label.partition];
        m_records[partition->GetThread()].push_back(
            {partition, label.name, rest.TakeBytes(label.bytes)});
    }
}

} // namespace ns3::rdma
