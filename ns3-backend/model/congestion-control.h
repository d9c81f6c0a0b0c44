#ifndef DRYDOCK_NS3_BACKEND_CONGESTION_CONTROL_H
#define DRYDOCK_NS3_BACKEND_CONGESTION_CONTROL_H

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::rdma
{

/**
 * \brief How fast one queue pair may send. Times in ps, sizes in bytes on the wire.
 *
 * Calls come in order of time, from the thread of the queue pair's host. What would happen at a
 * tick of a timer is worked out when somebody asks: no event belongs to it.
 */
class FlowPacer
{
  public:
    virtual ~FlowPacer() = default;
    /// A packet has been put on the wire. How long after it the next one may follow.
    virtual int64_t Send(int64_t now, int64_t bytes) = 0;
    /// The receiver says that packets of this queue pair were marked (CNP).
    virtual void Notify(int64_t now) = 0;
};

/**
 * \brief The seam of congestion control: parameters as attributes, and a pacer for each queue pair.
 *
 * One object serves all hosts. It is made before the run and does not change in it, so that any
 * thread may call NewFlow.
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();
    /// \p lineRate in bits per second.
    virtual std::unique_ptr<FlowPacer> NewFlow(int64_t lineRate) const = 0;
    /// Whether switches have to mark packets for it.
    virtual bool NeedsMarks() const = 0;
};

struct CongestionControlChoice
{
    const char* name;
    const char* summary;
    Ptr<CongestionControl> (*make)(); //!< nothing for `none`
};

/// By the name in the cluster file, null if there is none of it.
const CongestionControlChoice* FindCongestionControl(const std::string& name);
/// "none, dcqcn".
std::string CongestionControlNames();

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_CONGESTION_CONTROL_H
