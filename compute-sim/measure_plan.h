// What gpu-profiler is to measure, and the profile it writes while it does: the part of it that
// needs no GPU.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_PLAN_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_PLAN_H_

#include <string>
#include <vector>

#include "compute-sim/kernel.h"
#include "compute-sim/profile.h"
#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// Products, copies, fills and sums of two: what measure_device.cu can launch, if the GPU has the
// type.
bool IsMeasurable(const Kernel& kernel);

struct MeasurePlan {
  std::vector<Kernel> kernels;  // each once, in the order of the submodules
  int64_t known = 0;            // that the present profile has already
  int64_t left_out = 0;         // distinct kernels that cannot be measured
};
// `present`: a profile that a run before this one began, or null.
Result<MeasurePlan> PlanMeasurements(const std::vector<Submodule>& submodules,
                                     const Profile* present);

// A product for each of `rows` rows (M) and each pair of widths (N, K), of both orders: what the
// linears of a model with these widths run forwards and backwards.
std::vector<Submodule> GridSubmodules(const std::vector<int64_t>& rows,
                                      const std::vector<int64_t>& widths, DataType type);

// The header and the line of column names; then a line a row, so that a run which ends early can be
// taken up.
struct MeasuredOn {
  std::string gpu, device, driver, libraries, date;
};
std::string MeasuredHeader(const MeasuredOn& on);
std::string MeasuredRow(const Kernel& kernel, double us);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_PLAN_H_
