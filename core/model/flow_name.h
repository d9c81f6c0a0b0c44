// Names of queue pairs (Message::flow), mixed from what tells them apart.
#ifndef DRYDOCK_EXEC_ENGINE_FLOW_NAME_H_
#define DRYDOCK_EXEC_ENGINE_FLOW_NAME_H_

#include <cstdint>

namespace drydock {

inline uint32_t FlowName(uint32_t hash, uint32_t value) {
  hash ^= value + 0x9e3779b9u + (hash << 6) + (hash >> 2);
  hash *= 0x85ebca6bu;
  return hash ^ (hash >> 13);
}

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FLOW_NAME_H_
