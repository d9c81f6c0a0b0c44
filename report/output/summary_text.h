// The summary as text for a terminal of 100 columns (summary.txt).
#ifndef DRYDOCK_REPORT_OUTPUT_SUMMARY_TEXT_H_
#define DRYDOCK_REPORT_OUTPUT_SUMMARY_TEXT_H_

#include <string>

#include "report/facts/summary.h"

namespace drydock {

// Returns the headlines and the most expensive collectives and kernels.
std::string SummaryText(const Summary& summary);

// Returns the last line of a list, "  and 3 calls more in summary.json"; "" if all items are shown.
std::string MoreInJson(size_t all, size_t shown, const char* noun);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_SUMMARY_TEXT_H_
