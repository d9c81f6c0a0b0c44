// For tests of overlap.tensor: a tensor-parallel job with four ranks, t = 64 rows, h = 64.
#ifndef DRYDOCK_WORKLOAD_GEN_TESTING_TENSOR_OVERLAP_TESTING_H_
#define DRYDOCK_WORKLOAD_GEN_TESTING_TENSOR_OVERLAP_TESTING_H_

#include <string>
#include <vector>

#include "workload-gen/testing/job_testing.h"

namespace drydock {

using Overrides = std::vector<std::string>;

inline constexpr int kRanks = 4;  // of tensor parallelism

inline Overrides Split(const Overrides& more) {
  Overrides overrides = {"parallel.tensor=4", "parallel.sequence_parallel=true",
                         "parallel.pipeline=1", "training.precision=bf16"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

inline Workload WithoutOverlap(const Overrides& more = {}) { return TestWorkload(Split(more)); }
inline Workload Overlapped(Overrides more = {}) {
  more.emplace_back("overlap.tensor=true");
  return TestWorkload(Split(more));
}

inline const Program& OnlyProgram(const Workload& w) { return w.programs[0]; }

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TESTING_TENSOR_OVERLAP_TESTING_H_
