// Programs as Chakra execution traces, one file per rank class. Node ids are op indices; data_deps
// are the op's dependencies, ctrl_deps the op before it on its stream. What Chakra has no field for
// stands in the attribute "drydock.op" (docs/reference/run-directory.md).
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

// "attention.forward mb3 layer5": how an op is called in traces, dumps and reports.
std::string OpName(const Workload& workload, const Op& op);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_FILE_H_
