#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_MESSAGE_PARTS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_MESSAGE_PARTS_H_

#include "core/containers/index_table.h"
#include "core/network/network.h"
#include "ns3-backend/model/wire/fifo.h"

#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief Messages that travel in parts over several queue pairs: which parts are outstanding, at
 * one end of their connections.
 *
 * Messages of a connection are done in the order in which they were expected, as NCCL's proxy tests
 * its requests, even if a later message is complete first.
 */
class MessageParts
{
  public:
    /// Message \p whole goes over \p connection in \p parts parts.
    void Expect(uint64_t connection, const drydock::Message& whole, uint32_t parts);

    /// A part of message \p id is finished. Calls \p done with each message that is now done.
    template <typename Done>
    void Finish(uint64_t connection, drydock::MessageId id, Done done)
    {
        Fifo<Pending>& pending = m_connections[m_index.Find(connection)];
        CountDown(pending, id);
        while (!pending.Empty() && pending.Front().parts == 0)
        {
            done(pending.Front().whole);
            pending.Pop();
        }
    }

    /// Whether no message is outstanding.
    bool Idle() const;

  private:
    struct Pending
    {
        drydock::Message whole;
        uint32_t parts; //!< number of outstanding parts
    };

    static void CountDown(Fifo<Pending>& pending, drydock::MessageId id);

    std::vector<Fifo<Pending>> m_connections;
    drydock::IndexTable<uint64_t> m_index; //!< of connections
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_MESSAGE_PARTS_H_
