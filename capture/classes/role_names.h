// What workloads call the process groups of frameworks.
#ifndef DRYDOCK_CAPTURE_CLASSES_ROLE_NAMES_H_
#define DRYDOCK_CAPTURE_CLASSES_ROLE_NAMES_H_

#include <string>

#include "capture/classes/class_tape.h"
#include "core/model/workload.h"

namespace drydock::capture {

// The name and dimension of groups of this description: those of Megatron's parallel_state, of
// PyTorch's device meshes and the default group. Others have their description as name, and the
// dimension "world".
GroupRole RoleOfDescription(const std::string& description);

// The same for one communicator: "tp", "dp 2" for the second of a description, "pp-next" for the
// two ends of messages.
GroupRole RoleOf(const ClassRole& role);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_ROLE_NAMES_H_
