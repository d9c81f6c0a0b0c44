// How long messages take through a fabric in which nothing else is about and nothing is broken.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_IDLE_TIME_H_
#define DRYDOCK_CORE_MODEL_FABRIC_IDLE_TIME_H_

#include <cstdint>
#include <span>

#include "core/model/fabric/fabric_map.h"

namespace drydock {

// What one queue pair carries of a message: full frames, then one with the rest. Bytes on the wire.
struct PartOnWire {
  FabricMap::AccessPair ends;  // of the unbroken map
  uint32_t path = 0;
  int64_t full_frames = 0;
  int64_t full = 0;
  int64_t last = 0;
};

// From first bit out to last bit in, ps. Switches store and forward, or cut through as the map
// says.
//
// Of one part, exactly. Parts that share links wait for each other there: of several, the most that
// is certain. None is sooner than it would be alone; a link that some of them share is done with
// all of their frames no sooner than the first can begin there, and the last has the rest of a way
// to go.
int64_t MeasureIdle(const FabricMap& map, std::span<const PartOnWire> parts);

// Of one part, without a look at what links it shares.
int64_t MeasureIdlePart(const FabricMap& map, const PartOnWire& part);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_IDLE_TIME_H_
