// How long messages take on an idle fabric without faults.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_IDLE_TIME_H_
#define DRYDOCK_CORE_MODEL_FABRIC_IDLE_TIME_H_

#include <cstdint>
#include <span>

#include "core/model/fabric/fabric_map.h"

namespace drydock {

// The part of a message on one queue pair: full frames, then one with the rest. Bytes on the wire.
struct PartOnWire {
  FabricMap::AccessPair ends;  // in the map without faults
  uint32_t path = 0;
  int64_t full_frames = 0;
  int64_t full = 0;
  int64_t last = 0;
};

// Returns the time from first bit out to last bit in, ps. Switches store and forward, or cut
// through if the map says so.
//
// The time of one part is exact. Parts that share links wait for each other, and the time of
// several parts is a lower bound: the maximum of the times of each part alone and of a sum for each
// link. The sum consists of the earliest arrival of a frame at the link, the time of all frames on
// the link, and the shortest time from the link to the end of a path.
int64_t MeasureIdle(const FabricMap& map, std::span<const PartOnWire> parts);

// The same for one part.
int64_t MeasureIdlePart(const FabricMap& map, const PartOnWire& part);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_IDLE_TIME_H_
