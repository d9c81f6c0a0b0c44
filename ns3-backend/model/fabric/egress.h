#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_EGRESS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_EGRESS_H_

#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/fabric/fabric-port.h"
#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/wire/telemetry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::rdma
{

class FabricNode;

/// The frames one direction of a cable carries from one partition to the other. On cache lines of
/// its own, as two threads take turns with it.
class alignas(64) LinkMailbox : public Mailbox
{
  public:
    LinkMailbox(FabricNode* receiver, uint16_t port);
    void Deliver() override;
    int64_t EarliestTime() const override;
    void Pack(std::string* parcel) override;

    std::vector<Frame> frames;        //!< in order of time
    std::vector<Telemetry> telemetry; //!< of those with Frame::INT

  private:
    FabricNode* m_node;
};

/// The sending side of a port: what its node alone touches.
struct alignas(64) Egress
{
    int64_t freeAt = 0;    //!< when the last frame's last bit has left, ps
    int64_t delay = 0;     //!< last bit out here to last bit in there, ps
    int64_t psPerByte = 0; //!< 0 where a byte takes no whole number of picoseconds
    int64_t head = 0;      //!< how long what a cut-through switch waits for takes; 0: all, ps
    bool pending = false;  //!< an event at freeAt will send what waits
    uint8_t paused = 0;    //!< classes that the other end has stopped, one bit each
    LinkMailbox* mailbox = nullptr;
    uint64_t frames = 0; //!< sent
    uint64_t bytes = 0;  //!< sent, headers and gaps included
    const FabricDirection* direction = nullptr;
    const FabricPort* listener = nullptr; //!< the port's device if it has a trace sink
    int64_t busy = 0;                     //!< in all, with what was sent, ps

    int64_t Occupancy(int64_t size) const
    {
        return psPerByte != 0 ? size * psPerByte : direction->Occupancy(size);
    }
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_EGRESS_H_
