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

// One rank's iteration, cut into parts that add up to it (docs/explanation/accounting.md).
struct TimeAccount {
  Time compute;
  Time host;                      // waiting for the host to launch what could run, or to work
  Time exposed[kDimensionCount];  // communication that nothing hides
  Time memory;                    // loads and stores that nothing hides
  Time straggler;                 // in a call whose members have not all come yet
  Time bubble;                    // waiting for a pipeline neighbour that has not sent yet
  Time idle;                      // after the rank's last op, or waiting for nothing of these
};

struct Timeline {
  std::string network;  // "packet"
  Time iteration;
  // Of a run that was stopped there: what had not ended by then ends there, what had not started
  // takes no time. Zero: it ran to its end.
  Time stopped;
  int64_t ops_ended = 0;  // over all ranks, by then
  // Of a run of several iterations, how long each took, until the last rank was done with it; the
  // times of ops are those of the last one. Empty: there was one.
  std::vector<Time> iterations;
  std::vector<RankTimeline> ranks;
  std::vector<TimeAccount> accounts;                      // by rank
  std::vector<std::pair<std::string, int64_t>> counters;  // "packets", "messages", ...
  std::vector<LinkTotal> links;                           // the busiest, the busiest first
  std::vector<SlowdownRow> slowdowns;  // of messages, by size; empty unless a log was kept
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_TIMELINE_H_
