#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_SHARES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_SHARES_H_

#include "ns3-backend/model/simulator/partition.h"

#include "core/base/processes.h"

#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// How partitions are distributed to processes, and those of a process to its threads. Never
/// changes a result.
enum Assignment
{
    NEIGHBOURS, //!< a contiguous share of each layer, because neighbors exchange most frames
    IN_TURNS,   //!< one after another
    BY_LAYER,   //!< whole layers
};

/**
 * Returns which of \p parts gets each partition: by layer, in the order of \p layers. Layers may be
 * empty.
 */
std::vector<std::vector<uint32_t>> Distribute(const std::vector<std::vector<Partition*>>& layers,
                                              uint32_t parts,
                                              Assignment assignment);

/**
 * \brief Which process runs which partition, and which thread of this process.
 *
 * Every process adds all partitions, in the same order. A partition of another process exists here
 * only as the address of mailboxes.
 */
class PartitionShares
{
  public:
    /// Partitions of one \p layer (hosts, leaf switches, ...) are distributed evenly.
    void Add(Partition* partition, uint32_t layer);

    /// This process is one of \p processes, which outlive this.
    void SetProcesses(drydock::Processes* processes);

    /// After the last Add: decides which process runs which partition. A second call changes
    /// nothing.
    void AssignProcesses(Assignment assignment);

    /// REQUIRES: AssignProcesses was called.
    bool Owns(const Partition& partition) const
    {
        return OwnerOf(partition) == m_process;
    }

    /// Returns the process that runs \p partition.
    uint32_t OwnerOf(const Partition& partition) const
    {
        return m_owners[partition.GetNumber()];
    }

    /// A partition of this process and the thread that runs it.
    struct Share
    {
        Partition* partition;
        uint32_t thread;
    };

    /// Distributes the partitions of this process to \p threads, layer by layer.
    std::vector<Share> AssignThreads(uint32_t threads, Assignment assignment) const;

    /// All partitions, by number.
    const std::vector<Partition*>& GetPartitions() const
    {
        return m_partitions;
    }

    drydock::Processes* GetProcesses() const
    {
        return m_processes;
    }

    uint32_t GetProcess() const
    {
        return m_process;
    }

  private:
    std::vector<std::vector<Partition*>> m_layers;
    std::vector<Partition*> m_partitions; //!< by number
    std::vector<uint32_t> m_owners;       //!< by number: the process
    drydock::Processes* m_processes = &drydock::OneProcess();
    uint32_t m_process = 0; //!< this one
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_SHARES_H_
