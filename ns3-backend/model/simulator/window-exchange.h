#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_EXCHANGE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_EXCHANGE_H_

#include "ns3-backend/model/simulator/partition.h"

#include "core/base/processes.h"

#include <string>
#include <string_view>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief Exchanges mailboxes between the partitions of this process and those of other processes.
 *
 * Once a window each process sends one parcel to each other process: the content of all mailboxes
 * for that process, the time of its own earliest event and whether it requests a stop. After one
 * round all processes know the beginning of the next window, without a reduction. The order within
 * a parcel does not matter (Mailbox).
 *
 * The first thread calls Run while the other threads wait. Each thread calls Deliver for its own
 * partitions.
 */
class WindowExchange
{
  public:
    /// \p processes outlives this; \p partitions has all partitions, by number; \p threads is the
    /// number of threads of this process.
    WindowExchange(drydock::Processes* processes,
                   std::vector<Partition*> partitions,
                   uint32_t threads);

    /// \p partition belongs to another process.
    void Adopt(Partition* partition, uint32_t process);

    /// Packs the mailboxes that \p sender has posted for other processes.
    void Collect(ThreadContext& sender);
    /// Sends what was collected with the state of this process, and sorts what it receives.
    void Run(int64_t earliest, bool stop);

    /// Delivers what arrived for partitions of \p thread. Calls \p touched with each partition.
    template <typename Touched>
    void Deliver(uint32_t thread, Touched touched)
    {
        for (const Record& record : m_records[thread])
        {
            drydock::Unpacker parcel(record.bytes);
            record.partition->Receive(record.name, parcel);
            touched(record.partition);
        }
        m_records[thread].clear();
    }

    /// Returns the earliest event of all processes, as of the last Run.
    int64_t GetEarliest() const
    {
        return m_earliest;
    }

    bool GetStop() const
    {
        return m_stop;
    }

  private:
    struct Record
    {
        Partition* partition;
        uint32_t name; //!< of the mailbox
        std::string_view bytes;
    };

    /// Begins each parcel.
    struct Heading
    {
        int64_t earliest;
        uint64_t stop;
    };

    /// Precedes what a mailbox has packed.
    struct Label
    {
        uint32_t partition;
        uint32_t name;
        uint64_t bytes;
    };

    void Sort(const std::string& parcel);

    drydock::Processes* m_processes;
    std::vector<Partition*> m_partitions;
    std::vector<ThreadContext> m_remote;        //!< by process, for its partitions
    std::vector<std::string> m_out;             //!< by process
    std::vector<std::string> m_in;              //!< by process
    std::vector<std::vector<Record>> m_records; //!< by thread; into m_in
    int64_t m_earliest = NEVER;
    bool m_stop = false;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_EXCHANGE_H_
