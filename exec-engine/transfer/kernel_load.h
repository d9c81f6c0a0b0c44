// What the kernel of a communication call takes of the GPU that it runs on, from its plan: a thread
// block a channel, and what they read and write in the GPU's memory. In words:
// docs/explanation/collectives.md.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_KERNEL_LOAD_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_KERNEL_LOAD_H_

#include "core/base/units.h"

namespace drydock {

struct LocalPlan;
struct SharingCosts;
class PortMap;

struct KernelLoad {
  double sms = 0;    // that its thread blocks keep from other kernels
  Bandwidth memory;  // of the GPU's memory, on average while data moves unhindered
};

// Sets LocalMember::load of every member. The rest of the plan is complete.
void FindLoads(const SharingCosts& costs, const PortMap& ports, LocalPlan* plan);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_KERNEL_LOAD_H_
