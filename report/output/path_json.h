// The parts of summary.json on the critical path, on what if, and on another run
// (docs/reference/report.md).
#ifndef DRYDOCK_REPORT_OUTPUT_PATH_JSON_H_
#define DRYDOCK_REPORT_OUTPUT_PATH_JSON_H_

#include <nlohmann/json.hpp>

#include "report/facts/summary.h"
#include "report/output/compare.h"

namespace drydock {

nlohmann::ordered_json PathJson(const PathSummary& path);
nlohmann::ordered_json WhatIfJson(const WhatIf& what_if);
nlohmann::ordered_json ComparisonJson(const Comparison& comparison);

// "exposed tensor" -> "exposed_tensor"
std::string JsonKey(std::string name);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PATH_JSON_H_
