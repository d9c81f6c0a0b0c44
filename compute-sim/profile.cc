// Looking up measured rows.
#include "compute-sim/profile.h"

#include <algorithm>
#include <cmath>

namespace drydock {
namespace {

// Rows of the kernel's kind and type.
std::pair<size_t, size_t> RangeOf(const Profile& profile, const Kernel& kernel) {
  const auto less = [](const ProfileRow& a, const ProfileRow& b) {
    return std::tie(a.kernel.kind, a.kernel.type) < std::tie(b.kernel.kind, b.kernel.type);
  };
  ProfileRow probe;
  probe.kernel = kernel;
  const auto [begin, end] = std::equal_range(profile.rows.begin(), profile.rows.end(), probe, less);
  return {static_cast<size_t>(begin - profile.rows.begin()),
          static_cast<size_t>(end - profile.rows.begin())};
}

// The index of the one extent in which the two differ; -1 if they differ in none or several.
int OnlyDifference(const Kernel& a, const Kernel& b) {
  int difference = -1;
  for (int i = 0; i < kMaxKernelDims; ++i) {
    if (a.dims[static_cast<size_t>(i)] == b.dims[static_cast<size_t>(i)]) continue;
    if (difference >= 0) return -1;
    difference = i;
  }
  return difference;
}

// Tightens `pair`, the enclosing rows along extent `dim`, with one more row.
void Tighten(const ProfileRow& row, const Kernel& kernel, size_t dim, Neighbours* pair) {
  const int64_t here = kernel.dims[dim], there = row.kernel.dims[dim];
  const ProfileRow*& side = there < here ? pair->below : pair->above;
  const bool closer = side == nullptr || (there < here ? there > side->kernel.dims[dim]
                                                       : there < side->kernel.dims[dim]);
  if (closer) side = &row;
}

}  // namespace

const ProfileRow* FindRow(const Profile& profile, const Kernel& kernel) {
  const auto row = std::lower_bound(
      profile.rows.begin(), profile.rows.end(), kernel,
      [](const ProfileRow& a, const Kernel& b) { return KeyOf(a.kernel) < KeyOf(b); });
  return row != profile.rows.end() && KeyOf(row->kernel) == KeyOf(kernel) ? &*row : nullptr;
}

std::optional<Neighbours> FindNeighbours(const Profile& profile, const Kernel& kernel) {
  Neighbours pairs[kMaxKernelDims];
  const auto [begin, end] = RangeOf(profile, kernel);
  for (size_t i = begin; i < end; ++i) {
    const int dim = OnlyDifference(profile.rows[i].kernel, kernel);
    if (dim < 0) continue;
    Tighten(profile.rows[i], kernel, static_cast<size_t>(dim), &pairs[dim]);
  }
  std::optional<Neighbours> best;
  double best_gap = 0;
  for (size_t dim = 0; dim < kMaxKernelDims; ++dim) {
    Neighbours& pair = pairs[dim];
    if (pair.below == nullptr || pair.above == nullptr || pair.below->kernel.dims[dim] < 1)
      continue;
    const double low = static_cast<double>(pair.below->kernel.dims[dim]);
    const double gap = static_cast<double>(pair.above->kernel.dims[dim]) / low;
    if (gap > profile.max_gap || (best.has_value() && gap >= best_gap)) continue;
    pair.at = std::log(static_cast<double>(kernel.dims[dim]) / low) / std::log(gap);
    best = pair;
    best_gap = gap;
  }
  return best;
}

}  // namespace drydock
