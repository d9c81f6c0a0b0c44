#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_CONGESTION_CONTROL_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_CONGESTION_CONTROL_H_

#include "ns3-backend/model/wire/telemetry.h"

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::rdma
{

/// What an acknowledgement tells its sender. Times in ps.
struct AckReport
{
    int64_t now;
    int64_t roundTrip; //!< of the packet that asked for it; -1: unknown, that packet was repeated
    int64_t bytes;     //!< of messages, newly acknowledged
    bool marked;       //!< the acknowledged packets were marked (ECN echo)
    bool missing;      //!< it says that a packet is missing (NACK)
    uint64_t acked;    //!< every packet before this one has arrived
    uint64_t next;     //!< the packet to be sent next
    const Telemetry* telemetry; //!< of the packet that asked for it; null without INT
};

/**
 * \brief How much and how fast one queue pair may send. Times in ps, sizes in bytes.
 *
 * Calls come in order of time, from the thread of the queue pair's host. What would happen at a
 * tick of a timer is worked out when somebody asks: no event belongs to it.
 */
class FlowController
{
  public:
    virtual ~FlowController() = default;
    /// A packet of \p bytes on the wire has been sent. How long after it the next one may follow.
    virtual int64_t Send(int64_t now, int64_t bytes) = 0;

    /// The receiver says that packets of this queue pair were marked (CNP).
    virtual void Notify(int64_t now)
    {
        (void)now;
    }

    virtual void Acknowledge(const AckReport& report)
    {
        (void)report;
    }

    /// An acknowledgement did not come in time.
    virtual void TimeOut(int64_t now)
    {
        (void)now;
    }

    /// Bytes of messages that may be in flight; the queue pair's own window holds besides.
    virtual int64_t GetWindow() const
    {
        return INT64_MAX;
    }
};

/// The way of a queue pair, as far as it shapes its control.
struct FlowPath
{
    int64_t lineRate;  //!< of the NIC, bits per second
    int64_t roundTrip; //!< of a full packet and its acknowledgement when nothing else is about, ps
    int64_t mtu;       //!< payload of a full packet, bytes
    uint32_t hops;     //!< switches on the way there
};

/**
 * \brief The seam of congestion control: parameters as attributes, and a controller for each queue
 * pair.
 *
 * One object serves all hosts. It is made before the run and does not change in it, so that any
 * thread may call NewFlow.
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();
    virtual std::unique_ptr<FlowController> NewFlow(const FlowPath& path) const = 0;

    /// What it needs of switches and receivers.
    struct Needs
    {
        enum Marks
        {
            NO_MARKS,
            RAMP, //!< with a probability that grows with the queue
            STEP, //!< all packets that find a longer queue than EcnMin
        };

        Marks marks = NO_MARKS;
        bool notifications = false; //!< receivers tell of marks by packets of their own (CNP)
        bool echoes = false;        //!< acknowledgements tell exactly which packets were marked
        bool roundTrips = false;    //!< AckReport::roundTrip
        int64_t telemetryBytes = 0; //!< that INT adds to each frame; 0: no telemetry
    };

    virtual Needs GetNeeds() const = 0;
};

struct CongestionControlChoice
{
    const char* name;
    const char* summary;
    Ptr<CongestionControl> (*make)(); //!< nothing for `none`
};

/// By the name in the cluster file, null if there is none of it.
const CongestionControlChoice* FindCongestionControl(const std::string& name);
/// "none, dcqcn, ...".
std::string CongestionControlNames();

/// How long \p bytes take at \p rate bits per second, at least 1 of them, ps.
int64_t TimeAt(double rate, int64_t bytes);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_CONGESTION_CONTROL_H_
