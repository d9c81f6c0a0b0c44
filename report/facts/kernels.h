// What the compute time is made of: kernels by name and shape, and where their times came from.
// Counted over the programs of all ranks, at the times compute-sim gave. Pure functions;
// deterministic order.
#ifndef DRYDOCK_REPORT_FACTS_KERNELS_H_
#define DRYDOCK_REPORT_FACTS_KERNELS_H_

#include <array>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "report/facts/inputs.h"

namespace drydock {

struct KernelRow {
  std::string gpu;
  std::string name;
  std::string shape;
  std::string bound;
  TimeSource source = TimeSource::kModel;
  Time time;             // one launch
  int64_t launches = 0;  // in an iteration, over all ranks
  double share = 0;      // of all kernel time of all ranks
};

struct KernelSummary {
  std::vector<KernelRow> rows;  // costliest in total first
  struct Source {
    int64_t kernels = 0;  // distinct, as compute-sim counted them
    double share = 0;     // of all kernel time of all ranks
  };
  std::array<Source, kTimeSourceCount> by_source;  // by TimeSource
};

// Whether people are told of the source: that a workload gives its times is said where one does.
inline bool IsShown(const KernelSummary& kernels, size_t source) {
  return source != static_cast<size_t>(TimeSource::kGiven) || kernels.by_source[source].kernels > 0;
}

KernelSummary SummariseKernels(const Inputs& inputs);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_KERNELS_H_
