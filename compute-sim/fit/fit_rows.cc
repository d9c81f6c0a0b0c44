#include "compute-sim/fit/fit_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace drydock {
namespace {

std::vector<FitRow> EveryNth(const std::vector<FitRow>& rows, size_t most) {
  if (rows.size() <= most) return rows;
  std::vector<FitRow> thin;
  for (size_t i = 0; i < most; ++i) thin.push_back(rows[i * rows.size() / most]);
  return thin;
}

}  // namespace

std::vector<FitRow> RowsOf(const std::vector<ProfilePtr>& profiles, const FitWeights& weights,
                           const std::function<bool(KernelKind, DataType)>& wanted) {
  std::vector<FitRow> rows;
  for (const ProfilePtr& profile : profiles) {
    for (const ProfileTable& table : profile->tables) {
      if (!wanted(table.kind, table.type)) continue;
      for (size_t i = 0; i < table.size(); ++i) {
        const Kernel kernel = RowRef{&table, i}.kernel();
        rows.push_back(
            {kernel, table.times[i].us(), profile->clocks, profile->quantized, weights.Of(kernel)});
      }
    }
  }
  return rows;
}

// Do not change this hash: a different hash would choose a different half, and the stated errors
// would no longer hold for unfitted rows.
bool IsFitted(const Kernel& kernel) {
  uint64_t hash = 14695981039346656037u;
  for (const int64_t extent : kernel.dims) {
    hash = (hash ^ static_cast<uint64_t>(extent)) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return (hash >> 17) % 2 == 0;
}

std::vector<FitRow> Half(const std::vector<FitRow>& rows, bool fitted) {
  std::vector<FitRow> half;
  for (const FitRow& row : rows) {
    if (IsFitted(row.kernel) == fitted) half.push_back(row);
  }
  return half;
}

std::vector<FitRow> Thinned(const std::vector<FitRow>& rows, size_t most) {
  if (rows.size() <= most) return rows;
  std::vector<FitRow> heavy, light;
  for (const FitRow& row : rows) (row.weight == 1 ? heavy : light).push_back(row);
  heavy = EveryNth(heavy, std::max(most / 2, most - std::min(most, light.size())));
  light = EveryNth(light, most - heavy.size());
  heavy.insert(heavy.end(), light.begin(), light.end());
  return heavy;
}

size_t CountShapes(const std::vector<FitRow>& rows) {
  std::set<std::tuple<KernelKind, DataType, std::array<int64_t, kMaxKernelDims>>> shapes;
  for (const FitRow& row : rows) {
    shapes.emplace(row.kernel.kind, row.kernel.type, row.kernel.dims);
  }
  return shapes.size();
}

Residuals ResidualsOf(const std::string& what, const std::vector<FitRow>& rows,
                      const RowPredictor& predict) {
  Residuals residuals{what, static_cast<int64_t>(rows.size())};
  if (rows.empty()) return residuals;
  std::vector<double> errors;
  double predicted = 0, measured = 0;
  for (const FitRow& row : rows) {
    const double us = predict(row);
    errors.push_back(std::abs(us / row.us - 1));
    residuals.mean += errors.back() / static_cast<double>(rows.size());
    predicted += us;
    measured += row.us;
  }
  std::sort(errors.begin(), errors.end());
  residuals.p95 = errors[(errors.size() * 95 + 99) / 100 - 1];
  residuals.sum = predicted / measured - 1;
  return residuals;
}

double LossOf(const std::vector<FitRow>& rows, double sum_weight, const RowPredictor& predict) {
  double loss = 0, weights = 0, predicted = 0, measured = 0;
  for (const FitRow& row : rows) {
    const double us = predict(row);
    loss += row.weight * std::abs(std::log(us / row.us));
    weights += row.weight;
    predicted += row.weight * us;
    measured += row.weight * row.us;
  }
  return loss / weights + sum_weight * std::abs(std::log(predicted / measured));
}

std::string ToString(const Residuals& r) {
  return fmt::format("{:<40} {:>7} rows  mean {:5.1f} %  p95 {:5.1f} %  sum {:+5.1f} %", r.what,
                     r.rows, r.mean * 100, r.p95 * 100, r.sum * 100);
}

}  // namespace drydock
