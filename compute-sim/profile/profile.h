// Measured kernel times: CSV files of rows (docs/reference/kernel-profile.md gives the format). The
// rows of one kernel and type, and of one traffic per element, are a table, sorted by extents: 8 B
// an extent and 12 B a row. Immutable once read; thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_H_
#define DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct ProfileTable {
  KernelKind kind = KernelKind::kGemm;
  DataType type = DataType::kBf16;
  int64_t milli_bytes = 0;       // MilliBytesPerElement of its kernels
  size_t width = 0;              // extents of a row
  std::vector<int64_t> extents;  // width of them a row, rows in ascending order
  std::vector<Time> times;
  std::vector<int32_t> lines;

  size_t size() const { return times.size(); }
  std::span<const int64_t> row(size_t i) const {
    return std::span(extents).subspan(i * width, width);
  }
};

struct Profile {
  std::string file_name;
  std::string gpu;         // the GPU type the rows were measured on
  std::string source;      // what the header says of where they come from
  bool burst = false;      // measured in short bursts, not under the load of a long run
  bool quantised = false;  // an fp8 product's row contains the quantisation of its activations
  double max_gap = 4;      // rows further apart than this factor in an extent are not joined
  double weight = 1;       // share of a neighbour's deviation from the model that is believed
  int64_t repeated = 0;    // rows that say again what another said
  std::vector<ProfileTable> tables;  // sorted by kind, type, bytes

  size_t row_count() const;
  // Null if nothing of that kind, type and traffic per element was measured: the same extents with
  // other operands are another kernel.
  const ProfileTable* TableOf(const Kernel& kernel) const;
};
using ProfilePtr = std::shared_ptr<const Profile>;

// Reports bad lines together, as file:line:column (the first 50, and how many more there are).
// A row given twice with the same time is counted; with another time it is an error.
Result<Profile> ParseProfile(std::string_view text, const std::string& file_name);
Result<Profile> LoadProfile(const std::string& path);

// A row: a place in a table.
struct RowRef {
  const ProfileTable* table = nullptr;
  size_t index = 0;

  Time time() const { return table->times[index]; }
  int line() const { return table->lines[index]; }
  int64_t extent(size_t i) const { return table->extents[index * table->width + i]; }
  Kernel kernel() const;
  Kernel Like(const Kernel& kernel) const;  // `kernel` with the row's extents
};

// The row with exactly these extents.
std::optional<RowRef> FindRow(const Profile& profile, const Kernel& kernel);

// The two rows that enclose `kernel` in one extent and equal it in all others, no further apart
// than max_gap; `at` is where it lies between them on a logarithmic scale, 0..1.
struct Neighbours {
  RowRef below, above;
  double at = 0;
};
// The closest such pair; ties go to the earlier extent.
std::optional<Neighbours> FindNeighbours(const Profile& profile, const Kernel& kernel);

// The rows nearest to `kernel` among those within max_gap of it in every extent; empty unless in
// every extent some lie at or below it and some at or above.
struct NearRow {
  RowRef row;
  double distance = 1;  // the largest ratio between two extents
};
inline constexpr size_t kMostNearRows = 8;
std::vector<NearRow> FindEnclosing(const Profile& profile, const Kernel& kernel);

// How far the nearest row is, as the largest ratio between two extents: 1 is a row itself.
// Nullopt if none was measured for that kernel and type.
std::optional<NearRow> FindNearest(const Profile& profile, const Kernel& kernel);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_H_
