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
 * \brief What the partitions of this process and those of the others have for each other.
 *
 * Once a window each process sends one parcel to each other one, with all that its partitions have
 * for partitions there, the time of its own earliest event and whether it wants to stop. So after
 * one round all know the beginning of the next window; nobody sends packet by packet, and no
 * reduction is needed besides. In a parcel things are in no order that matters (Mailbox).
 *
 * Run is called by the first thread while the others stand still, Deliver by each for its own.
 */
class WindowExchange
{
  public:
    /// \p processes outlives this; \p partitions are all of them, by number; \p threads are in this
    /// process.
    WindowExchange(drydock::Processes* processes,
                   std::vector<Partition*> partitions,
                   uint32_t threads);

    /// A partition of another process.
    void Adopt(Partition* partition, uint32_t process);

    /// Packs what \p sender has posted for others.
    void Collect(ThreadContext& sender);
    /// Sends what was collected, with what this process has to say, and sorts what comes back.
    void Run(int64_t earliest, bool stop);

    /// What came for partitions of \p thread; \p touched is told each.
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

    /// Of all processes, by the last Run.
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

    /// Stands before what a mailbox has packed.
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
    std::vector<std::string> m_in;              //!< likewise
    std::vector<std::vector<Record>> m_records; //!< by thread; into m_in
    int64_t m_earliest = NEVER;
    bool m_stop = false;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_WINDOW_EXCHANGE_H_
