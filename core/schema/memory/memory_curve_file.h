// The artefact 1-memory.pb, which only workloads that workload-gen makes from a model have.
#ifndef DRYDOCK_CORE_SCHEMA_MEMORY_MEMORY_CURVE_FILE_H_
#define DRYDOCK_CORE_SCHEMA_MEMORY_MEMORY_CURVE_FILE_H_

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/memory_curve.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {

inline constexpr const char* kMemoryCurveName = "1-memory.pb";

// Writes the curve of the workload whose manifest is in `run`.
Status WriteMemoryCurve(const std::string& run, const MemoryCurve& curve, const std::string& tool);

// Returns nothing if there is no curve, or if it belongs to another workload: the present one may
// come from another tool. REQUIRES: `workload` has its programs.
Result<std::optional<MemoryCurve>> ReadMemoryCurve(const std::string& run,
                                                   const WorkloadFile& workload);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_MEMORY_MEMORY_CURVE_FILE_H_
