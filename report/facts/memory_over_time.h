// What PyTorch's allocator holds on a rank over the iteration (MemoryCurve), which
// the workload knows of the class that needs most.
#ifndef DRYDOCK_REPORT_FACTS_MEMORY_OVER_TIME_H_
#define DRYDOCK_REPORT_FACTS_MEMORY_OVER_TIME_H_

#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

struct AllocatedAt {
  Time time;
  Bytes bytes;
};

// Returns the steps of the curve in the order of time: `bytes` hold from `time` to the next step.
// The host allocates in the order of the program, so a step begins when the compute stream reaches
// an op, and has the most that the program holds between that op and the next one of the stream.
// Empty if the workload does not know it of the rank.
std::vector<AllocatedAt> AllocatedOverTime(const Inputs& inputs, int rank);

// The curve in at most `steps` steps of equal length, each with its most.
std::vector<AllocatedAt> Thinned(const std::vector<AllocatedAt>& curve, Time iteration, int steps);

// The lowest rank whose memory the workload knows by op; -1: none.
int RankWithMemory(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_MEMORY_OVER_TIME_H_
