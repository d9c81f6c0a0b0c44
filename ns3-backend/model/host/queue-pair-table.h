#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_TABLE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_TABLE_H_

#include "ns3-backend/model/host/queue-pair.h"
#include "ns3-backend/model/host/rdma-transport.h"
#include "ns3-backend/model/wire/fabric-map.h"

#include <unordered_map>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief The queue pairs that send from one host. The first message of a (flow, NICs) makes the
 * queue pair with its path through the fabric, its window and its rate. Not thread-safe.
 */
class QueuePairTable
{
  public:
    /// All pointers outlive this. \p dataSize and \p ackSize are the bytes on the wire of a full
    /// packet and of an acknowledgement.
    void Configure(uint32_t host,
                   const FabricMap* map,
                   const RdmaTransport::Parameters* transport,
                   int64_t dataSize,
                   int64_t ackSize);

    static constexpr uint32_t NONE = UINT32_MAX;

    /// Returns a hash in place of the 5-tuple of the queue pair that carries \p message.
    static uint32_t PathHash(const drydock::Message& message);

    /// Returns the number of the queue pair for \p message, which is made if it is new, or NONE if
    /// no path leads to the destination.
    uint32_t Find(const drydock::Message& message);

    QueuePair& operator[](uint32_t number)
    {
        return m_pairs[number];
    }

    const QueuePair& operator[](uint32_t number) const
    {
        return m_pairs[number];
    }

    size_t Size() const
    {
        return m_pairs.size();
    }

    bool Idle() const;

    struct NameHash
    {
        size_t operator()(const QueuePairName& name) const;
    };

    using Names = std::unordered_map<QueuePairName, uint32_t, NameHash>;

    static QueuePairName NameOf(const drydock::Message& message)
    {
        return {message.destination, message.source_nic, message.destination_nic, message.flow};
    }

  private:
    void Make(const FabricMap::AccessPair& ends, uint32_t path);
    /// Returns the window in bytes for an idle path whose slowest link takes \p slowest for a full
    /// packet. Times in ps.
    int64_t WindowFor(int64_t roundTrip, int64_t slowest) const;

    uint32_t m_host = 0;
    const FabricMap* m_map = nullptr;
    const RdmaTransport::Parameters* m_transport = nullptr;
    int64_t m_dataSize = 0;
    int64_t m_ackSize = 0;
    std::vector<QueuePair> m_pairs;
    Names m_byName;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_QUEUE_PAIR_TABLE_H_
