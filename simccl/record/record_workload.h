// A recorded program as a Workload: what workload-gen makes for a training job, made of the calls a
// program made. Ranks that call the same share a class; GPUs nobody used have an empty program.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_WORKLOAD_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_WORKLOAD_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/record/record_log.h"

namespace drydock {

// The recording must have passed MatchCalls. `name` is the program's. Errors name the rank.
Result<Workload> MakeRecordedWorkload(const Recording& recording, const Topology& topology,
                                      const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_WORKLOAD_H_
