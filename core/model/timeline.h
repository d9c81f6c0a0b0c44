// When every op of every rank started and ended, and the counters of the network. exec-engine makes
// it, report reads it. Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_TIMELINE_H_
#define DRYDOCK_CORE_MODEL_TIMELINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/model/link_total.h"
#include "core/model/shared_times.h"
#include "core/model/slowdown.h"
#include "core/model/workload.h"

namespace drydock {

struct RankTimeline {
  SharedTimes start;  // by op of the rank's program: when its stream reached it
  // Communication: when all that the op waits for has ended and data began to move. Compute: `end`
  // minus the time of its kernels; between start and ready the op waits for launches of its host.
  SharedTimes ready;
  SharedTimes end;
};

// What the host does while the GPU waits for it. kLaunches: launches kernels and calls. kCode: runs
// the code of modules and of the step. kValues: launches again after it has waited for a value that
// the GPU computed. kData: waits for the data loader. kWork: other work of its own, such as an
// optimizer.
enum class HostCause : uint8_t { kLaunches, kCode, kValues, kData, kWork };
inline constexpr int kHostCauseCount = 5;
const std::vector<std::string>& HostCauseNames();  // "launching", "module code", ...

// The time that the GPU waits for the host, by cause.
struct HostTime {
  Time by_cause[kHostCauseCount];
  Time& of(HostCause cause) { return by_cause[static_cast<size_t>(cause)]; }
  Time of(HostCause cause) const { return by_cause[static_cast<size_t>(cause)]; }
};

// One rank's iteration, divided into parts that add up to it (docs/explanation/accounting.md).
struct TimeAccount {
  Time compute;
  Time host;                      // waiting for launches or for work of the host
  HostTime host_time;             // adds up to `host`
  Time exposed[kDimensionCount];  // communication without concurrent compute
  Time memory;                    // loads and stores without concurrent compute
  Time straggler;                 // in a call that some members have not begun
  Time bubble;                    // waiting for a pipeline neighbor that has not sent yet
  Time idle;                      // after the rank's last op, or none of the above
};

// The name of the network that simulates the transport of the cluster file. Runs over other
// networks have no congestion control.
inline constexpr char kPacketNetwork[] = "packet";

struct Timeline {
  std::string network;  // kPacketNetwork, "fluid", ...
  Time iteration;
  // When the run was stopped. Ops that had not ended end at this time, ops that had not started
  // take no time. Zero: the run is complete.
  Time stopped;
  int64_t ops_ended = 0;  // over all ranks, by `stopped`
  // Of a run of several iterations, the time of each, until the last rank ended it; `ranks` has the
  // last iteration. Empty: a run of one iteration.
  std::vector<Time> iterations;
  std::vector<RankTimeline> ranks;
  std::vector<TimeAccount> accounts;                      // by rank
  std::vector<std::pair<std::string, int64_t>> counters;  // "packets", "messages", ...
  std::vector<LinkTotal> links;                           // the busiest links, in order
  std::vector<SlowdownRow> slowdowns;  // of messages, by size; empty without a network log
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_TIMELINE_H_
