// The load of a communication call's kernel on its GPU, computed from its plan: a thread block for
// each channel, and the bytes that thread blocks and NICs move through the GPU's memory.
// docs/explanation/collectives.md has the model in words.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_KERNEL_LOAD_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_KERNEL_LOAD_H_

#include "core/base/units.h"

namespace drydock {

struct LocalPlan;
struct SharingCosts;
class PortMap;

struct KernelLoad {
  double sms = 0;    // that its thread blocks keep to themselves
  Bandwidth memory;  // of the GPU's memory, on average while nothing delays the data
};

// Sets LocalMember::load of every member. REQUIRES: the rest of the plan is complete.
void FindLoads(const SharingCosts& costs, const PortMap& ports, LocalPlan* plan);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_KERNEL_LOAD_H_
