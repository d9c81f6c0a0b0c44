// Plans the measurements of gpu-profiler. Needs no GPU.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_PLAN_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_PLAN_H_

#include <map>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/profile/profile.h"
#include "compute-sim/submodules/kernel_assumptions.h"
#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// True if gpu-profiler has a kernel to launch: GEMMs and grouped GEMMs by cuBLASLt, attention
// of 16 bits by cuDNN, and the memory-bound kernels of 16 bits in measure_elementwise.cu,
// measure_rows.cu and measure_columns.cu. False for top-k, scatters and the backward pass
// of embeddings.
bool IsMeasurable(const Kernel& kernel);

struct MeasurePlan {
  std::vector<Kernel> kernels;              // each once, in the order of the submodules
  int64_t known = 0;                        // kernels that the present profile has already
  std::map<std::string, int64_t> left_out;  // distinct kernels that cannot be measured, by name
};
// "2 scatter, 1 top-k"; "" if everything can be measured.
std::string LeftOutText(const MeasurePlan& plan);
// Leaves out attention, on a machine without cuDNN.
void LeaveOutAttention(MeasurePlan* plan);

// `present`: a profile that an earlier run began, or null.
Result<MeasurePlan> PlanMeasurements(const std::vector<Submodule>& submodules,
                                     const KernelAssumptions& assumptions, const Profile* present);

// The submodules that models with these widths run on these numbers of rows, forward and backward.
struct MeasureGrid {
  std::vector<int64_t> rows;    // M
  std::vector<int64_t> widths;  // every ordered pair is an N and a K
  DataType type = DataType::kBf16;
  bool gemms = true;
  bool memory = false;  // norms, activations, residuals, softmax, copies of every rows x width
};
std::vector<Submodule> GridSubmodules(const MeasureGrid& grid);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_PLAN_H_
