// Runs a program as one rank, to its end, and reads its log.
#ifndef DRYDOCK_CAPTURE_RUN_RANK_RUN_H_
#define DRYDOCK_CAPTURE_RUN_RANK_RUN_H_

#include <string>
#include <vector>

#include "capture/environment/environment.h"
#include "capture/log/log_file.h"
#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock::capture {

struct RankRun {
  int rank = 0, world = 1;
  std::vector<std::string> command;  // the first word is looked up in PATH
};

// The program shares this process's streams. Errors: it cannot be started, fails, or never uses a
// GPU.
Result<ProcessLog> RunRank(const CaptureEnvironment& environment, const Topology& topology,
                           const RankRun& run);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_RANK_RUN_H_
