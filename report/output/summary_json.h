// summary.json (docs/reference/report.md).
#ifndef DRYDOCK_REPORT_OUTPUT_SUMMARY_JSON_H_
#define DRYDOCK_REPORT_OUTPUT_SUMMARY_JSON_H_

#include <string>

#include "report/facts/summary.h"
#include "report/output/compare.h"

namespace drydock {

// `comparison`: with another run, or null.
std::string SummaryJson(const Summary& summary, const Comparison* comparison = nullptr);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_SUMMARY_JSON_H_
