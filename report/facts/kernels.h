// The kernels of the compute time, by name and shape, and the sources of their times. Counted over
// the programs of all ranks, with the times of compute-sim. Pure functions; deterministic order.
#ifndef DRYDOCK_REPORT_FACTS_KERNELS_H_
#define DRYDOCK_REPORT_FACTS_KERNELS_H_

#include <array>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

struct KernelRow {
  std::string gpu;
  std::string name;
  std::string shape;
  KernelBound bound = KernelBound::kMeasured;
  TimeSource source = TimeSource::kModel;
  double flops = 0, bytes = 0;  // of one launch (KernelTime); both 0: not known
  Time time;             // one launch
  int64_t launches = 0;  // in an iteration, over all ranks
  double share = 0;      // of all kernel time of all ranks
};

struct KernelSummary {
  std::vector<KernelRow> rows;  // the largest total first
  struct Source {
    int64_t kernels = 0;  // distinct, as compute-sim counts them
    double share = 0;     // of all kernel time of all ranks
  };
  std::array<Source, kTimeSourceCount> by_source;  // by TimeSource
};

// Returns true if text and page show the source: `given` only if the workload states times.
inline bool IsShown(const KernelSummary& kernels, size_t source) {
  return source != static_cast<size_t>(TimeSource::kGiven) || kernels.by_source[source].kernels > 0;
}

KernelSummary SummarizeKernels(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_KERNELS_H_
