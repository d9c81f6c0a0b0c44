#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_MESSAGE_PARTS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_MESSAGE_PARTS_H_

#include "core/containers/index_table.h"
#include "exec-engine/network/network.h"
#include "ns3-backend/model/wire/fifo.h"

#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief Messages that travel in parts over several queue pairs, at one of their ends: which parts
 * are still to come.
 *
 * Messages of a connection are done in the order in which they were expected, as NCCL's proxy looks
 * at its requests, though a later one may be complete first.
 */
class MessageParts
{
  public:
    /// \p whole goes over \p connection, in so many \p parts.
    void Expect(uint64_t connection, const drydock::Message& whole, uint32_t parts);

    /// A part of message \p id is through. Calls \p done with each message that is now done.
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

    /// Nothing is expected.
    bool Idle() const;

  private:
    struct Pending
    {
        drydock::Message whole;
        uint32_t parts; //!< that are not through
    };

    static void CountDown(Fifo<Pending>& pending, drydock::MessageId id);

    std::vector<Fifo<Pending>> m_connections;
    drydock::IndexTable<uint64_t> m_index; //!< of connections
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_MESSAGE_PARTS_H_
