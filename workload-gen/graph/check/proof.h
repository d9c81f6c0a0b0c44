// The text of a check's result for the user.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_PROOF_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_PROOF_H_

#include <string>

#include "core/base/result.h"
#include "workload-gen/graph/check/check.h"

namespace drydock {

// Returns the violations as an error of the file. The last line counts the omitted violations.
Status ToStatus(const CheckReport& report, const std::string& path);

// Returns one line that says what the check proved.
std::string ProofText(const Workload& workload, const CheckReport& report);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_PROOF_H_
