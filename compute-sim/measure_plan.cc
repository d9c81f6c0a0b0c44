#include "compute-sim/measure_plan.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "compute-sim/profile_rows.h"
#include "compute-sim/submodule_kernels.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

// Of every kernel that can be measured.
const std::vector<std::string>& Columns() {
  static const std::vector<std::string> columns = {"batch", "m", "n", "k", "rows", "columns"};
  return columns;
}

}  // namespace

bool IsMeasurable(const Kernel& kernel) {
  const bool half = kernel.type == DataType::kBf16 || kernel.type == DataType::kFp16;
  switch (kernel.kind) {
    case KernelKind::kGemm:
    case KernelKind::kGemmAccumulate:
      return half || kernel.type == DataType::kFp8;
    case KernelKind::kBatchedGemm:
    case KernelKind::kAdd:
    case KernelKind::kCopy:
    case KernelKind::kFill:
      return half;
    default:
      return false;
  }
}

Result<MeasurePlan> PlanMeasurements(const std::vector<Submodule>& submodules,
                                     const Profile* present) {
  MeasurePlan plan;
  std::set<std::tuple<KernelKind, DataType, std::array<int64_t, kMaxKernelDims>>> seen;
  for (const Submodule& submodule : submodules) {
    ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, KernelsOf(submodule));
    for (const Kernel& kernel : kernels) {
      if (!seen.emplace(kernel.kind, kernel.type, kernel.dims).second) continue;
      if (!IsMeasurable(kernel))
        ++plan.left_out;
      else if (present != nullptr && FindRow(*present, kernel).has_value())
        ++plan.known;
      else
        plan.kernels.push_back(kernel);
    }
  }
  return plan;
}

std::vector<Submodule> GridSubmodules(const std::vector<int64_t>& rows,
                                      const std::vector<int64_t>& widths, DataType type) {
  std::vector<Submodule> submodules;
  for (const int64_t n : widths) {
    for (const int64_t k : widths) {
      for (const int64_t m : rows) {
        Submodule s;
        s.name = "grid";
        s.type = type;
        s.rows = m, s.n = n, s.k = k;
        submodules.push_back(s);
      }
    }
  }
  return submodules;
}

std::string MeasuredHeader(const MeasuredOn& on) {
  return fmt::format(
      "# gpu: {}\n# provenance: gpu-profiler on {}\n# method: CUDA events around one launch, "
      "median "
      "of 20 after 5 to warm up; L2 overwritten before each\n# date: {}\n# clocks: burst\n# "
      "driver: "
      "{}\n# libraries: {}\nkernel,dtype,{},time\n",
      on.gpu, on.device, on.date, on.driver, on.libraries, Join(Columns(), ","));
}

std::string MeasuredRow(const Kernel& kernel, double us) {
  return ProfileRowText(kernel, Columns(), us);
}

}  // namespace drydock
