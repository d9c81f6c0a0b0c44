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
 * \brief Data from one partition for another, delivered between two windows.
 *
 * One thread fills the mailbox during a window and the receiver's thread empties it after the
 * barrier, so it needs no lock. Each link has one. The order in which mailboxes are emptied must
 * not matter to the receiver. Data for a partition of another process is packed, and that process
 * gives it to the partition.
 */
class Mailbox
{
  public:
    /// \p name identifies the mailbox to its receiver.
    Mailbox(Partition* receiver, uint32_t name)
        : m_receiver(receiver),
          m_name(name)
    {
    }

    virtual ~Mailbox() = default;
    /// Called after the receiver is adopted and before the first Post. Records the receiver's
    /// thread, so that senders do not read a partition that another thread writes.
    void Address();
    /// Moves everything to the receiver. Called by the receiver's thread.
    virtual void Deliver() = 0;
    /// Returns the time of the first event that its content causes at the receiver, or NEVER.
    virtual int64_t EarliestTime() const = 0;
    /// In place of Deliver: moves everything to \p parcel, for Partition::Receive.
    virtual void Pack(std::string* parcel) = 0;

    uint32_t GetName() const
    {
        return m_name;
    }

    Partition* GetReceiver() const
    {
        return m_receiver;
    }

    /// Returns the thread of the receiver.
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
 * \brief The part of a thread that its partitions see. A thread owns the same partitions for the
 * whole run.
 */
struct ThreadContext
{
    /// The index of the thread in this process. Other processes count as further threads.
    uint32_t index = 0;
    uint32_t threads = 1; //!< of this process
    /// By index of the receiving thread: mailboxes that became non-empty in this window.
    std::vector<std::vector<Mailbox*>> posted;
    /// Set by an event that ends the run with this window.
    bool stop = false;
};

/**
 * \brief A part of the model that runs independently within a window: a host or a switch.
 *
 * The simulator calls Process with increasing limits, always from the same thread. Within a window
 * a partition touches only itself and mailboxes, and nothing that it posts may take effect before
 * the window ends. The lookahead of the simulator guarantees this.
 */
class Partition
{
  public:
    virtual ~Partition() = default;
    /// Called once, before the first event.
    virtual void Start() = 0;
    /// Runs every event before \p limit (not at it), in order of (time, kind, number). Returns
    /// their number.
    virtual uint64_t Process(int64_t limit) = 0;
    /// Returns the time of the earliest pending event, or NEVER.
    virtual int64_t NextTime() const = 0;
    /// Returns the time of the event that is being run, ps.
    virtual int64_t LocalTime() const = 0;
    /// Returns the relative cost of simulating it, for the distribution of partitions to threads.
    virtual uint32_t GetWeight() const = 0;

    /// Takes what a mailbox of that name has packed in another process. Called by the thread of
    /// this partition between windows.
    virtual void Receive(uint32_t /*name*/, drydock::Unpacker& /*parcel*/)
    {
        CHECK_NOTE(false, "this partition has no mailboxes in other processes");
    }

    /// Called once, before Start: \p context is the thread that runs this partition. A partition of
    /// another process is adopted but not started.
    virtual void Adopt(ThreadContext* context, size_t slot)
    {
        m_context = context;
        m_slot = slot;
    }

    uint32_t GetThread() const
    {
        return m_context->index;
    }

    /// Returns the position among the partitions of its thread.
    size_t GetSlot() const
    {
        return m_slot;
    }

    /// Returns the number among all partitions, the same in every process.
    uint32_t GetNumber() const
    {
        return m_number;
    }

    void SetNumber(uint32_t number)
    {
        m_number = number;
    }

  protected:
    /// Must be called when \p mailbox becomes non-empty.
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
