// Sensitivities by replay: the iteration again, with one kind of input made faster at a time. What
// NCCL decided stays (the plans are not made again), and so does everything that the change does
// not name.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_WHAT_IF_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_WHAT_IF_H_

#include <functional>
#include <string>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/what_if.h"
#include "core/model/workload.h"
#include "exec-engine/replay/replay.h"

namespace drydock {

// One row per question: selection, help and "valid values are ..." come from the table. A rate is
// multiplied by `factor`, a time divided by it.
struct WhatIfChange {
  std::string name;
  std::string changed;
  void (*apply)(double factor, Workload* workload, KernelTimes* times);
};
const std::vector<WhatIfChange>& WhatIfChanges();

// "compute,nic" as rows of the table, in its order; empty: all.
Result<std::vector<const WhatIfChange*>> FindChanges(const std::string& names);

struct WhatIfOptions {
  double better = 10;  // per cent, above 0
  std::vector<const WhatIfChange*> changes;
  ReplayOptions replay;
  std::function<void(const std::string& name)> began;  // before each replay
};

// Errors are those of Replay.
Result<WhatIf> AnswerWhatIf(Workload workload, const FlowPlan& plan, const KernelTimes& times,
                            const NetworkModel& network, const WhatIfOptions& options);

// A table for people.
std::string WhatIfText(const WhatIf& what_if);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_WHAT_IF_H_
