// The costs of the loads, stores and host work of an iteration: one row for each name, kind and
// size. Durations run from when data begins to move. Pure functions; deterministic order.
#ifndef DRYDOCK_REPORT_FACTS_TRANSFERS_H_
#define DRYDOCK_REPORT_FACTS_TRANSFERS_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

struct TransferRow {
  OpKind kind = OpKind::kLoad;
  MemoryTransfer transfer;
  int64_t uses = 0;  // in the iteration, over all ranks
  Time median;       // lower median
  Time max;
  Time total;
  double bandwidth() const;  // bytes per second, at the median; 0 if it takes no time

  std::string Name() const;  // "load zero.parameters 1 GB from host"
};

// Returns the rows with the largest total first.
std::vector<TransferRow> SummarizeTransfers(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_TRANSFERS_H_
