#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_CONGESTION_CONTROL_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_CONGESTION_CONTROL_H_

#include "ns3-backend/model/wire/telemetry.h"

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::rdma
{

/// The content of an acknowledgement, for the congestion control of its queue pair. Times in ps.
struct AckReport
{
    int64_t now;
    int64_t roundTrip; //!< of the packet that requested it; -1: unknown, the packet was sent again
    int64_t bytes;     //!< of messages, newly acknowledged
    bool marked;       //!< the acknowledged packets were marked (ECN echo)
    bool missing;      //!< the receiver misses a packet (NACK)
    uint64_t acked;    //!< every packet before this one has arrived
    uint64_t next;     //!< the packet to be sent next
    const Telemetry* telemetry; //!< of the packet that requested it; null without INT
};

/**
 * \brief Window and rate of one queue pair. Times in ps, sizes in bytes.
 *
 * Calls come in order of time, from the thread of the queue pair's host. A controller has no
 * events: it applies the ticks of its timers when it is next called.
 */
class FlowController
{
  public:
    virtual ~FlowController() = default;
    /// A packet of \p bytes on the wire has been sent. Returns the minimum time until the next one.
    virtual int64_t Send(int64_t now, int64_t bytes) = 0;

    /// The receiver reports marked packets of this queue pair (CNP).
    virtual void Notify(int64_t now)
    {
        (void)now;
    }

    virtual void Acknowledge(const AckReport& report)
    {
        (void)report;
    }

    /// An acknowledgement did not arrive in time.
    virtual void TimeOut(int64_t now)
    {
        (void)now;
    }

    /// Returns the bytes of messages that may be in flight. The queue pair's own window applies as
    /// well.
    virtual int64_t GetWindow() const
    {
        return INT64_MAX;
    }
};

/// Properties of a queue pair's path that congestion control depends on.
struct FlowPath
{
    int64_t lineRate;  //!< of the NIC, bits per second
    int64_t roundTrip; //!< of a full packet and its acknowledgement on an idle fabric, ps
    int64_t mtu;       //!< payload of a full packet, bytes
    uint32_t hops;     //!< switches on the path to the receiver
};

/**
 * \brief A congestion control algorithm: its parameters as attributes, and a controller for each
 * queue pair.
 *
 * One object serves all hosts. It is made before the run and constant during the run, so any thread
 * may call NewFlow. helper/congestion-table.cc lists the algorithms.
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();
    virtual std::unique_ptr<FlowController> NewFlow(const FlowPath& path) const = 0;

    /// What the algorithm requires of switches and receivers.
    struct Needs
    {
        enum Marks
        {
            NO_MARKS,
            RAMP, //!< with a probability that grows with the queue
            STEP, //!< all packets that join a queue longer than EcnMin
        };

        Marks marks = NO_MARKS;
        bool notifications = false; //!< receivers report marks by separate packets (CNP)
        bool echoes = false;        //!< acknowledgements say exactly which packets were marked
        bool roundTrips = false;    //!< AckReport::roundTrip
        int64_t telemetryBytes = 0; //!< bytes that INT adds to each frame; 0: no telemetry
    };

    virtual Needs GetNeeds() const = 0;
};

/// Returns the time in ps for \p bytes at \p rate bits per second. A rate below 1 counts as 1.
int64_t TimeAt(double rate, int64_t bytes);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_CONGESTION_CONTROL_H_
