// What gpu-profiler is to measure: the part of it that needs no GPU.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_PLAN_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_PLAN_H_

#include <map>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/profile/profile.h"
#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// Whether there is something to launch for it: products and those of groups by cuBLASLt, attention
// of 16 bits by cuDNN, and the memory-bound kernels of 16 bits that measure_elementwise.cu and
// measure_rows.cu have. Not top-k, scatters, nor what an embedding adds to its table.
bool IsMeasurable(const Kernel& kernel);

struct MeasurePlan {
  std::vector<Kernel> kernels;              // each once, in the order of the submodules
  int64_t known = 0;                        // that the present profile has already
  std::map<std::string, int64_t> left_out;  // distinct kernels that cannot be measured, by name
};
// "2 scatter, 1 top-k"; "" if everything can be measured.
std::string LeftOutText(const MeasurePlan& plan);
// For a GPU on a machine that cannot run attention.
void LeaveOutAttention(MeasurePlan* plan);

// `present`: a profile that a run before this one began, or null.
Result<MeasurePlan> PlanMeasurements(const std::vector<Submodule>& submodules,
                                     const Profile* present);

// What a model with these widths runs on so many rows, forwards and backwards, as submodules.
struct MeasureGrid {
  std::vector<int64_t> rows;    // M
  std::vector<int64_t> widths;  // every pair is an N and a K, in both orders
  DataType type = DataType::kBf16;
  bool products = true;
  bool memory = false;  // norms, activations, residuals, softmax, copies of every rows x width
};
std::vector<Submodule> GridSubmodules(const MeasureGrid& grid);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_PLAN_H_
