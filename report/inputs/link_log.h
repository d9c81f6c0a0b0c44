// The load of cables as the packet network has logged it: 4-links.csv, if the run has one.
#ifndef DRYDOCK_REPORT_INPUTS_LINK_LOG_H_
#define DRYDOCK_REPORT_INPUTS_LINK_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct LoggedInterval {
  Time begin, end;
  int64_t bytes = 0;  // headers and acknowledgements included
};

// One direction of a cable, or of all cables between two ends: the log does not tell them apart. An
// interval without activity is absent.
struct LoggedLink {
  std::string from, to;
  std::vector<LoggedInterval> intervals;  // in the order of time
};

using LinkLog = std::vector<LoggedLink>;  // in the order of the file

// Nothing if the run has no log. Errors: a line that is not as exec-engine writes it.
Result<std::optional<LinkLog>> ReadLinkLog(const std::string& run);
Result<LinkLog> ParseLinkLog(const std::string& text, const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_INPUTS_LINK_LOG_H_
