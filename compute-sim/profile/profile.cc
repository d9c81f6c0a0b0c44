// Looking up measured rows.
#include "compute-sim/profile/profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace drydock {
namespace {

// "causal" is not a length: rows that differ in it are rows of different kernels.
bool IsFlag(const ProfileTable& table, size_t extent) {
  return IsAttention(table.kind) && extent == 5;
}

double Ratio(int64_t a, int64_t b) {
  const double x = static_cast<double>(a), y = static_cast<double>(b);
  return x > y ? x / y : y / x;
}

// The largest ratio between extents, or infinity if it is above `limit`.
double Distance(const ProfileTable& table, size_t row, const Kernel& kernel, double limit) {
  double distance = 1;
  for (size_t i = 0; i < table.width; ++i) {
    const int64_t here = kernel.dims[i], there = table.extents[row * table.width + i];
    if (here == there) continue;
    if (IsFlag(table, i) || here < 1) return std::numeric_limits<double>::infinity();
    distance = std::max(distance, Ratio(here, there));
    if (distance > limit) return std::numeric_limits<double>::infinity();
  }
  return distance;
}

// The index of the only extent in which row and kernel differ; -1 if they differ in none or
// several.
int OnlyDifference(const ProfileTable& table, size_t row, const Kernel& kernel) {
  int difference = -1;
  for (size_t i = 0; i < table.width; ++i) {
    if (table.extents[row * table.width + i] == kernel.dims[i]) continue;
    if (difference >= 0) return -1;
    difference = static_cast<int>(i);
  }
  return difference;
}

// First row whose first extent is at least `value`.
size_t FirstFrom(const ProfileTable& table, double value) {
  size_t low = 0, high = table.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (static_cast<double>(table.extents[middle * table.width]) < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Rows whose first extent is within a factor of the kernel's: [first, second).
std::pair<size_t, size_t> Window(const ProfileTable& table, const Kernel& kernel, double factor) {
  const double here = static_cast<double>(kernel.dims[0]);
  return {FirstFrom(table, here / factor),
          FirstFrom(table, std::nextafter(here * factor, std::numeric_limits<double>::max()))};
}

// Narrows `pair`, the enclosing rows along extent `dim`, to one more row.
void Tighten(const RowRef& row, const Kernel& kernel, size_t dim, EnclosingPair* pair) {
  const int64_t here = kernel.dims[dim], there = row.extent(dim);
  RowRef& side = there < here ? pair->below : pair->above;
  const bool closer =
      side.table == nullptr || (there < here ? there > side.extent(dim) : there < side.extent(dim));
  if (closer) side = row;
}

bool Encloses(const std::vector<NearRow>& rows, const Kernel& kernel) {
  const size_t width = rows.front().row.table->width;
  for (size_t i = 0; i < width; ++i) {
    const auto below = [&](const NearRow& near) { return near.row.extent(i) <= kernel.dims[i]; };
    const auto above = [&](const NearRow& near) { return near.row.extent(i) >= kernel.dims[i]; };
    if (std::none_of(rows.begin(), rows.end(), below)) return false;
    if (std::none_of(rows.begin(), rows.end(), above)) return false;
  }
  return true;
}

}  // namespace

Kernel RowRef::kernel() const {
  Kernel like{table->kind, table->type, {1, 1}};
  like.bytes = static_cast<double>(table->milli_bytes) / 1000;
  like.main_gradient = kMeasuredMainGradient;
  like.looped = IsGrouped(table->kind);  // docs/reference/kernel-profile.md
  return Like(like);
}

Kernel RowRef::Like(const Kernel& kernel) const {
  std::array<int64_t, kMaxKernelDims> dims = {};
  for (size_t i = 0; i < table->width; ++i) dims[i] = extent(i);
  return Resized(kernel, table->type, dims);
}

size_t Profile::row_count() const {
  size_t count = 0;
  for (const ProfileTable& table : tables) count += table.size();
  return count;
}

const ProfileTable* Profile::TableOf(const Kernel& kernel) const {
  if (kernel.main_gradient > 0 && kernel.main_gradient != kMeasuredMainGradient) return nullptr;
  const int64_t bytes = MilliBytesPerElement(kernel);
  for (const ProfileTable& table : tables) {
    if (table.kind == kernel.kind && table.type == kernel.type && table.milli_bytes == bytes) {
      return &table;
    }
  }
  return nullptr;
}

std::optional<RowRef> FindRow(const Profile& profile, const Kernel& kernel) {
  const ProfileTable* table = profile.TableOf(kernel);
  if (table == nullptr) return std::nullopt;
  const std::span<const int64_t> wanted(kernel.dims.data(), table->width);
  size_t low = 0, high = table->size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const auto row = table->row(middle);
    if (std::lexicographical_compare(row.begin(), row.end(), wanted.begin(), wanted.end()))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == table->size() || !std::ranges::equal(table->row(low), wanted)) return std::nullopt;
  return RowRef{table, low};
}

std::optional<EnclosingPair> FindEnclosingPair(const Profile& profile, const Kernel& kernel) {
  const ProfileTable* table = profile.TableOf(kernel);
  if (table == nullptr) return std::nullopt;
  EnclosingPair pairs[kMaxKernelDims];
  const auto [begin, end] = Window(*table, kernel, profile.max_gap);
  for (size_t i = begin; i < end; ++i) {
    const int dim = OnlyDifference(*table, i, kernel);
    if (dim < 0 || IsFlag(*table, static_cast<size_t>(dim))) continue;
    Tighten({table, i}, kernel, static_cast<size_t>(dim), &pairs[dim]);
  }
  std::optional<EnclosingPair> best;
  double best_gap = 0;
  for (size_t dim = 0; dim < table->width; ++dim) {
    EnclosingPair& pair = pairs[dim];
    if (pair.below.table == nullptr || pair.above.table == nullptr) continue;
    const double low = static_cast<double>(pair.below.extent(dim));
    const double gap = static_cast<double>(pair.above.extent(dim)) / low;
    if (gap > profile.max_gap || (best.has_value() && gap >= best_gap)) continue;
    pair.at = std::log(static_cast<double>(kernel.dims[dim]) / low) / std::log(gap);
    best = pair;
    best_gap = gap;
  }
  return best;
}

std::vector<NearRow> FindEnclosing(const Profile& profile, const Kernel& kernel) {
  std::vector<NearRow> near;
  const ProfileTable* table = profile.TableOf(kernel);
  if (table == nullptr) return near;
  const auto [begin, end] = Window(*table, kernel, profile.max_gap);
  for (size_t i = begin; i < end; ++i) {
    const double distance = Distance(*table, i, kernel, profile.max_gap);
    if (std::isfinite(distance)) near.push_back({{table, i}, distance});
  }
  if (near.empty() || !Encloses(near, kernel)) return {};
  // Rows are in order of extents, so rows of equal distance stay in this order.
  std::stable_sort(near.begin(), near.end(),
                   [](const NearRow& a, const NearRow& b) { return a.distance < b.distance; });
  if (near.size() > kMaxNearRows) near.resize(kMaxNearRows);
  return near;
}

std::optional<NearRow> FindNearest(const Profile& profile, const Kernel& kernel) {
  const ProfileTable* table = profile.TableOf(kernel);
  if (table == nullptr || kernel.dims[0] < 1) return std::nullopt;
  std::optional<NearRow> best;
  const auto consider = [&](size_t i) {
    const double limit = best.has_value() ? best->distance : std::numeric_limits<double>::max();
    const double distance = Distance(*table, i, kernel, limit);
    if (distance < limit) best = NearRow{{table, i}, distance};
    // Every row further out differs more in its first extent alone.
    return best.has_value() && Ratio(kernel.dims[0], table->row(i)[0]) > best->distance;
  };
  const size_t middle = FirstFrom(*table, static_cast<double>(kernel.dims[0]));
  for (size_t i = middle; i < table->size(); ++i) {
    if (consider(i)) break;
  }
  for (size_t i = middle; i > 0; --i) {
    if (consider(i - 1)) break;
  }
  return best;
}

}  // namespace drydock
