// Makes a Workload from a recorded program, as workload-gen does of a training job. Ranks that make
// the same calls share a class. Unused GPUs have an empty program.
#ifndef DRYDOCK_SIMCCL_RECORD_WORKLOAD_RECORDED_WORKLOAD_H_
#define DRYDOCK_SIMCCL_RECORD_WORKLOAD_RECORDED_WORKLOAD_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/record/log/recording.h"

namespace drydock {

// `name` is the program's name. The error names the rank. REQUIRES: MatchCalls(recording) is OK.
Result<Workload> MakeRecordedWorkload(const Recording& recording, const Topology& topology,
                                      const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_WORKLOAD_RECORDED_WORKLOAD_H_
