// What a check found, for the user.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_PROOF_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_PROOF_H_

#include <string>

#include "core/base/result.h"
#include "workload-gen/graph/check/check.h"

namespace drydock {

// The violations as an error of the file; the last line counts those that are not shown.
Status ToStatus(const CheckReport& report, const std::string& path);

// "1024 ranks in 16 classes (32 told apart by place), 12345 ops: ...": what was proven.
std::string ProofText(const Workload& workload, const CheckReport& report);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_PROOF_H_
