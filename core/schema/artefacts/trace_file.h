// Programs as Chakra execution traces, one file per rank class. Node ids are op indices; data_deps
// are the op's dependencies, ctrl_deps the previous op of its stream. The attribute "drydock.op"
// has the values that Chakra has no field for (docs/reference/run-directory.md).
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_FILE_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_FILE_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

std::string EncodeTrace(const Workload& workload, const Program& program);

// Checks every index against the workload's tables. `path` is for messages.
Result<Program> DecodeTrace(const std::string& content, const Workload& workload,
                            const std::string& path);

// Returns the name of an op in traces, dumps and reports: "attention.forward mb3 layer5".
std::string OpName(const Workload& workload, const Op& op);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_FILE_H_
