// Names of queue pairs (Message::flow): hashes of the values that identify them.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_FLOW_NAME_H_
#define DRYDOCK_CORE_MODEL_FABRIC_FLOW_NAME_H_

#include <cstdint>

namespace drydock {

inline uint32_t FlowName(uint32_t hash, uint32_t value) {
  hash ^= value + 0x9e3779b9u + (hash << 6) + (hash >> 2);
  hash *= 0x85ebca6bu;
  return hash ^ (hash >> 13);
}

// Returns the name of a connection between two members of a group on a channel. `group` is the
// group's index in the workload.
inline uint32_t FlowOfConnection(uint32_t group, uint16_t from, uint16_t to, uint16_t channel) {
  return FlowName(FlowName(FlowName(group + 1, from), to), channel);
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_FLOW_NAME_H_
