#include "compute-sim/fit/fit_curves.h"

#include <algorithm>
#include <map>

namespace drydock {

ShareCurve CurveOf(const std::vector<FitRow>& rows, const FitWeights& weights, const GpuShape& gpu,
                   const MemoryParameters& memory) {
  const double min_traffic = std::max(static_cast<double>(weights.curve_min_traffic.count()),
                                      2 * static_cast<double>(gpu.l2.count()));
  struct Sums {
    double plain = 0, measured = 0;
  };
  std::map<int64_t, Sums> by_length;
  for (const FitRow& row : rows) {
    if (row.kernel.bytes < min_traffic) continue;
    const Kernel& k = row.kernel;
    const Prediction plain = PredictMemoryKernel(
        MemoryKernel(KernelKind::kElementwise, k.type, k.dims[0], k.dims[1],
                     k.bytes / (static_cast<double>(k.dims[0]) * static_cast<double>(k.dims[1]))),
        gpu, memory);
    Sums& sums = by_length[k.dims[1]];
    sums.plain += plain.us - plain.fixed_us;
    sums.measured += std::max(row.us - plain.fixed_us, 0.0);
  }
  ShareCurve curve;
  for (const auto& [length, sums] : by_length) {
    if (sums.measured > 0) {
      curve.emplace_back(length, std::min(sums.plain / sums.measured, weights.curve_max_share));
    }
  }
  return curve;
}

}  // namespace drydock
