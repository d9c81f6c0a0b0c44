// Describes what NCCL launches for a group of calls: its kernels, and the works of each in order.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_GROUP_TEXT_H_
#define DRYDOCK_SIMCCL_EXPLAIN_GROUP_TEXT_H_

#include <string>

#include "core/nccl/nccl_library.h"
#include "simccl/expand/expand.h"
#include "simccl/explain/call_selection.h"

namespace drydock {

// `plan` is what `member` launches for its `calls`.
std::string GroupText(const SelectedCall& selected, const GroupOfCalls& calls, int member,
                      const NcclPlan& plan);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_GROUP_TEXT_H_
