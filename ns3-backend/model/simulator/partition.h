#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_H_

#include "ns3-backend/model/wire/frame.h"

#include "core/base/check.h"
#include "core/base/parcel.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::rdma
{

class Partition;

/**
 * \brief What one partition has for another, handed over between two windows.
 *
 * Filled by one thread during a window, emptied by the receiver's thread after the barrier, so it
 * needs no lock. One exists for each link and direction; the order in which mailboxes are emptied
 * must not matter to the receiver. What is for a partition of another process is packed, and given
 * to that partition there.
 */
class Mailbox
{
  public:
    /// \p name tells its receiver what it is.
    Mailbox(Partition* receiver, uint32_t name)
        : m_receiver(receiver),
          m_name(name)
    {
    }

    virtual ~Mailbox() = default;
    /// When the receiver has been adopted, before the first Post: notes its thread, so that senders
    /// do not read a partition that another thread writes.
    void Address();
    /// Moves everything to the receiver. Called by the receiver's thread.
    virtual void Deliver() = 0;
    /// Of what is in it: time of the first event that it will be at the receiver; NEVER if none.
    virtual int64_t EarliestTime() const = 0;
    /// Instead of Deliver: moves everything to \p parcel, for Partition::Receive.
    virtual void Pack(std::string* parcel) = 0;

    uint32_t GetName() const
    {
        return m_name;
    }

    Partition* GetReceiver() const
    {
        return m_receiver;
    }

    /// Of the receiver.
    uint32_t GetThread() const
    {
        return m_thread;
    }

  private:
    Partition* m_receiver;
    uint32_t m_name;
    uint32_t m_thread = UINT32_MAX;
};

/**
 * \brief What a partition sees of the thread that owns it for the whole run.
 */
struct ThreadContext
{
    /// Of the thread in this process; other processes count as further threads.
    uint32_t index = 0;
    uint32_t threads = 1; //!< of this process
    /// By receiving index: mailboxes that were empty and got something in this window.
    std::vector<std::vector<Mailbox*>> posted;
    /// Set by an event that wants the run to end with this window.
    bool stop = false;
};

/**
 * \brief A part of the model that runs on its own between two windows: a host, or a switch.
 *
 * The simulator calls Process with ever later limits, from one and the same thread. Within a
 * window a partition touches nothing outside but mailboxes, and what it puts there must not take
 * effect before the window ends; the lookahead of the simulator is chosen so.
 */
class Partition
{
  public:
    virtual ~Partition() = default;
    /// Before time starts.
    virtual void Start() = 0;
    /// Runs every event before \p limit (not at it), in order of (time, kind, number). How many.
    virtual uint64_t Process(int64_t limit) = 0;
    /// Time of the earliest pending event, NEVER if there is none.
    virtual int64_t NextTime() const = 0;
    /// Time of the event that is being run, ps.
    virtual int64_t LocalTime() const = 0;
    /// Relative cost of simulating it, for sharing partitions out to threads.
    virtual uint32_t GetWeight() const = 0;

    /// What a mailbox of that name has packed in another process. Called by the thread of this
    /// partition between windows.
    virtual void Receive(uint32_t /*name*/, drydock::Unpacker& /*parcel*/)
    {
        CHECK_NOTE(false, "this partition has no mailboxes in other processes");
    }

    /// The thread is decided: called once, before Start. A partition of another process is never
    /// started here: it only receives.
    virtual void Adopt(ThreadContext* context, size_t slot)
    {
        m_context = context;
        m_slot = slot;
    }

    uint32_t GetThread() const
    {
        return m_context->index;
    }

    /// Position among the partitions of its thread.
    size_t GetSlot() const
    {
        return m_slot;
    }

    /// Among all partitions, the same in every process.
    uint32_t GetNumber() const
    {
        return m_number;
    }

    void SetNumber(uint32_t number)
    {
        m_number = number;
    }

  protected:
    /// To be called when \p mailbox goes from empty to not empty.
    void Post(Mailbox* mailbox)
    {
        m_context->posted[mailbox->GetThread()].push_back(mailbox);
    }

    ThreadContext* m_context = nullptr;

  private:
    size_t m_slot = 0;
    uint32_t m_number = 0;
};

inline void
Mailbox::Address()
{
    m_thread = m_receiver->GetThread();
}

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_H_
