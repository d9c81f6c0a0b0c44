// The networks that simulate no packets, as the replay uses them. A program that links only these
// links no ns-3, whose license keeps it apart from NCCL.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_CHOICES_NETWORKS_WITHOUT_PACKETS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_CHOICES_NETWORKS_WITHOUT_PACKETS_H_

#include "exec-engine/replay/network_model.h"

namespace drydock {

const NetworkModel& AnalyticalModel();
const NetworkModel& FluidModel();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_CHOICES_NETWORKS_WITHOUT_PACKETS_H_
