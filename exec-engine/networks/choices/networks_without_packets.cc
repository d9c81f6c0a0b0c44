#include "exec-engine/networks/choices/networks_without_packets.h"

#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fabric_queues.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/networks/fluid/fluid_settings.h"

namespace drydock {

const NetworkModel& AnalyticalModel() {
  static const NetworkModel model = {.name = "analytical",
                                     .make = MakeAnalyticalNetwork,
                                     .make_folded = MakeFoldedAnalyticalNetwork,
                                     .folds_exactly = true,
                                     .merging = Merging::kWithinWindow,
                                     .reads_queue_pairs = FabricQueues::Applies};
  return model;
}

const NetworkModel& FluidModel() {
  static const NetworkModel model = {.name = "fluid",
                                     .make = MakeFluidNetwork,
                                     .make_folded = MakeFoldedFluidNetwork,
                                     .merging = Merging::kLargest,
                                     .attributes = FluidAttributes};
  return model;
}

}  // namespace drydock
