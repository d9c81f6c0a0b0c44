// How much of an iteration the host decides: the part of the critical path in which the GPU waits
// for the host, and whether that makes the run launch-bound.
#ifndef DRYDOCK_REPORT_FACTS_HOST_SHARE_H_
#define DRYDOCK_REPORT_FACTS_HOST_SHARE_H_

#include <array>
#include <optional>
#include <string>

#include "report/inputs/breakdown.h"
#include "report/path/path_summary.h"

namespace drydock {

struct HostShare {
  double decides = 0;   // share of the critical path, of 1
  std::string verdict;  // "launch-bound", "not launch-bound", "partly bound by the data loader"
};

// `by_cause`: of the host's time, over all ranks. Returns nothing for a run without a path.
std::optional<HostShare> HostShareOf(const PathSummary& path,
                                     const std::array<PartSummary, kHostCauseCount>& by_cause);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_HOST_SHARE_H_
