// Where programs repeat themselves. In the steady state of a pipeline schedule, or while gradients
// accumulate, a program runs the same ops for each micro-batch, or for each group of micro-batches:
// a period. Programs without some of their periods are those of an iteration with fewer
// micro-batches.
#ifndef DRYDOCK_EXEC_ENGINE_STEADY_PROGRAM_PERIODS_H_
#define DRYDOCK_EXEC_ENGINE_STEADY_PROGRAM_PERIODS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// Ops `begin` to `end` of a program repeat with the period `ops`: an op and the op one period later
// do the same and depend on the same ops, counted back from themselves. They differ in their
// micro-batch, and messages in their tag, by the same amount everywhere.
struct ProgramPeriods {
  uint32_t begin = 0, end = 0, ops = 0;
};

struct WorkloadPeriods {
  int32_t microbatches = 0;             // of a period
  int64_t tag_step = 0;                 // between the tags of messages one period apart
  std::vector<ProgramPeriods> classes;  // by rank class
};

// Returns no value if some program does not repeat itself several times, or if the numbers of calls
// (call_numbers.h) do not keep their order where periods are left out.
std::optional<WorkloadPeriods> FindPeriods(const Workload& workload);

// Returns how many periods from the beginning of the repeating ops on may be left out so that
// `rest` are left, none of which another op waits for. Zero if they are not at least as many.
int64_t SparePeriods(const Workload& workload, const WorkloadPeriods& periods, int64_t rest);

// The periods of WithoutPeriods(..., count).
WorkloadPeriods Shortened(WorkloadPeriods periods, int64_t count);

// Returns the workload without `count` periods, which begin at op `from` of each class. Messages
// after them have the tags of messages that many periods earlier. An op that depends on an op of
// these periods from beyond the repeating ops no longer depends on it. REQUIRES: from >= begin, and
// from + count * ops <= end.
Workload WithoutPeriods(const Workload& workload, const WorkloadPeriods& periods,
                        std::span<const uint32_t> from, int64_t count);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_STEADY_PROGRAM_PERIODS_H_
