#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_EGRESS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_EGRESS_H_

#include "ns3-backend/model/fabric/fabric-port.h"
#include "ns3-backend/model/simulator/partition.h"
#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/model/wire/telemetry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::rdma
{

class FabricNode;

/// The frames that a link carries from one partition to another. It has its own cache lines because
/// two threads use it in turn.
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

/// The sending side of a port. Only its node touches it.
struct alignas(64) Egress
{
    int64_t freeAt = 0;    //!< when the last frame's last bit has left, ps
    int64_t delay = 0;     //!< last bit out here to last bit in there, ps
    int64_t psPerByte = 0; //!< 0 if a byte does not take a whole number of picoseconds
    int64_t head = 0; //!< time of the bytes that a cut-through switch waits for; 0: all bytes, ps
    bool pending = false; //!< an event at freeAt will send the next frame
    uint8_t paused = 0;   //!< classes that the peer has paused, one bit each
    LinkMailbox* mailbox = nullptr;
    uint64_t frames = 0; //!< sent
    uint64_t bytes = 0;  //!< sent, headers and gaps included
    const FabricDirection* direction = nullptr;
    const FabricPort* listener = nullptr; //!< the port's device if it has a trace sink
    int64_t busy = 0;                     //!< total time of the frames that were sent, ps

    int64_t Occupancy(int64_t size) const
    {
        return psPerByte != 0 ? size * psPerByte : direction->Occupancy(size);
    }
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_EGRESS_H_
