// Sensitivities by replay: replays the iteration with one kind of input faster at a time. The plans
// of NCCL and all other inputs stay as they are.
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

// One row per change: selection, help and "valid values are ..." come from the table. Rates are
// multiplied by `factor`, times divided by it.
struct WhatIfChange {
  std::string name;
  std::string changed;
  void (*apply)(double factor, Workload* workload, KernelTimes* times);
};
const std::vector<WhatIfChange>& WhatIfChanges();

// Returns the rows of names such as "compute,nic", in the order of the table; all rows if `names`
// is empty.
Result<std::vector<const WhatIfChange*>> FindChanges(const std::string& names);

struct WhatIfOptions {
  double better = 10;  // percent, above 0
  std::vector<const WhatIfChange*> changes;
  ReplayOptions replay;
  std::function<void(const std::string& name)> began;  // called before each replay
};

// Fails if Replay fails.
Result<WhatIf> AnswerWhatIf(Workload workload, const FlowPlan& plan, const KernelTimes& times,
                            const NetworkModel& network, const WhatIfOptions& options);

// Returns a table as text.
std::string WhatIfText(const WhatIf& what_if);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_WHAT_IF_H_
