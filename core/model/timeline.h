// When every op of every rank started and ended, and what the network counted. Made by
// exec-engine; what report reads. Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_TIMELINE_H_
#define DRYDOCK_CORE_MODEL_TIMELINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/model/link_total.h"
#include "core/model/slowdown.h"
#include "core/model/workload.h"

namespace drydock {

struct RankTimeline {
  std::vector<Time> start;  // by op of the rank's program: its stream reached it
  // Communication: data began to move (all that it waits for is there). Compute: `end` less what
  // its kernels take; what lies before, its host was late with launches.
  std::vector<Time> ready;
  std::vector<Time> end;
};

// One rank's iteration, cut into parts that add up to it (docs/accounting.md).
struct TimeAccount {
  Time compute;
  Time host;                      // waiting for the host to launch what could run, or to work
  Time exposed[kDimensionCount];  // communication that nothing hides
  Time memory;                    // loads and stores that nothing hides
  Time bubble;                    // waiting for a pipeline neighbour that has not sent yet
  Time idle;                      // after the rank's last op, or waiting for nothing of these
};

struct Timeline {
  std::string network;  // "packet"
  Time iteration;
  std::vector<RankTimeline> ranks;
  std::vector<TimeAccount> accounts;                      // by rank
  std::vector<std::pair<std::string, int64_t>> counters;  // "packets", "messages", ...
  std::vector<LinkTotal> links;                           // the busiest, the busiest first
  std::vector<SlowdownRow> slowdowns;  // of messages, by size; empty unless a log was kept
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_TIMELINE_H_
