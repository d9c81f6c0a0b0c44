#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_SWITCH_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_SWITCH_H_

#include "ns3-backend/model/fabric/ecn-marker.h"
#include "ns3-backend/model/fabric/fabric-node.h"
#include "ns3-backend/model/fabric/frame-queues.h"
#include "ns3-backend/model/fabric/port-chooser.h"
#include "ns3-backend/model/fabric/shared-buffer.h"

#include "ns3/traced-callback.h"

#include <vector>

namespace ns3::rdma
{

/**
 * \brief An output-queued switch: a FIFO for each port and traffic class, in a shared buffer.
 *
 * A frame enters the output queue when its last bit has arrived (with cut-through its first
 * CutThrough bytes) and the latency of the switch has passed (part of the link's delay, see
 * FabricMap). Of frames that arrive at the same time, the one from the lower input port is first;
 * of the classes of a port, the higher one. Waiting frames may be marked (EcnMarker). A frame
 * without room in the buffer is dropped or loses its payload, or its sender is paused in time
 * (SharedBuffer).
 */
class FabricSwitch : public FabricNode
{
  public:
    static TypeId GetTypeId();

    /// Called before the run. Writes the seed of this switch into \p map. \p largestFrame is the
    /// size of a full packet on the wire.
    void Configure(FabricMap* map, int64_t largestFrame);

    /// Returns the bytes that a port may still receive after it has paused its peer
    /// (docs/explanation/packet-network.md).
    static int64_t HeadroomOf(const FabricDirection& in,
                              const FabricDirection& out,
                              int64_t largestFrame,
                              int64_t pauseFrame);

    // From Partition
    uint64_t Process(int64_t limit) override;
    int64_t NextTime() const override;

    struct Counts
    {
        uint64_t unroutable = 0; //!< frames to destinations without a path since a fault
        uint64_t pauses = 0;     //!< PAUSE frames sent to begin or prolong a pause
        uint64_t resumes = 0;    //!< PAUSE frames sent to end a pause
    };

    const Counts& GetCounts() const
    {
        return m_counts;
    }

    /// Counts of the frames routed to a port.
    struct PortCounts
    {
        uint64_t marked = 0;
        uint64_t dropped = 0;
        uint64_t trimmed = 0;
        int64_t queued = 0;    //!< bytes that wait now, of all classes
        int64_t maxQueued = 0; //!< maximum of queued
    };

    const PortCounts& GetPortCounts(uint16_t port) const
    {
        return m_ports[port].counts;
    }

    const SharedBuffer& GetBuffer() const
    {
        return m_buffer;
    }

  private:
    friend class FabricNode;

    struct Port
    {
        uint8_t pausing = 0;   //!< classes that this switch has paused at the peer, one bit each
        bool renewing = false; //!< an event will renew the pauses
        PortCounts counts;
        EcnMarker marker;
        Fifo<Frame> pauses; //!< to be sent before other frames
    };

    // For FabricNode::RunEvent
    void Arrive(uint16_t inPort, Frame& frame);
    bool Next(uint16_t port, Frame* frame);

    bool Waiting(uint16_t port) const
    {
        return (m_queues.GetClasses(port) & ~m_egress[port].paused) != 0 ||
               !m_ports[port].pauses.Empty();
    }

    void Timer(EventKind kind, uint32_t number);
    void Enqueue(uint16_t port, uint16_t inPort, const Frame& frame);
    /// Drops \p frame, for which there is no room, or queues its header.
    void Refuse(uint16_t port, uint16_t inPort, const Frame& frame);
    /// Takes the first frame of a queue. Returns the port that it arrived by.
    uint16_t Dequeue(uint16_t port, uint8_t priority, Frame* frame);
    void Pause(uint16_t inPort, uint8_t priority);
    void Resume(uint16_t inPort, uint8_t priority);
    void RenewPauses(uint16_t inPort);
    void SendPause(uint16_t port, uint8_t priority, uint32_t quanta);
    static Frame PauseFrame(uint8_t priority, uint32_t quanta);
    int64_t RenewalInterval(uint16_t port) const;
    void Mark(uint16_t port, int64_t queued, Frame& frame);
    void ConfigureMarkers();
    /// Adds the state of \p port to the telemetry of \p frame, which leaves by it, if the frame has
    /// telemetry.
    void Observe(uint16_t port, const Frame& frame);

    uint32_t m_seed = 0;               //!< attribute
    uint32_t m_cutThrough = 0;         //!< attribute
    Routing m_routing = ECMP;          //!< attribute
    ns3::Time m_flowletGap;            //!< attribute
    uint32_t m_flowletTableBits = 0;   //!< attribute
    int64_t m_size = 0;                //!< attribute
    FlowControl m_flowControl = IDEAL; //!< attribute
    uint8_t m_lossless = 0;            //!< attribute
    uint8_t m_trimPriority = 0;        //!< attribute
    double m_pauseAlpha = 0;           //!< attribute
    double m_dropAlpha = 0;            //!< attribute
    int64_t m_resumeOffset = 0;        //!< attribute
    bool m_ecn = false;                //!< attribute
    bool m_ecnAtDequeue = false;       //!< attribute
    uint64_t m_ecnMin = 0;             //!< attribute
    uint64_t m_ecnMax = 0;             //!< attribute
    double m_ecnProbability = 0;       //!< attribute
    uint32_t m_index = 0;              //!< among the switches
    SharedBuffer m_buffer;
    PortChooser m_chooser;
    std::vector<Port> m_ports;
    FrameQueues m_queues;
    ClassScheduler m_scheduler;
    Counts m_counts;
    using FrameTrace = TracedCallback<const Frame&, uint16_t, int64_t>;
    FrameTrace m_dropTrace;
    FrameTrace m_trimTrace;
    FrameTrace m_markTrace;
    FrameTrace m_pauseTrace;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_FABRIC_SWITCH_H_
