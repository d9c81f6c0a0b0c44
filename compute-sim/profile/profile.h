// Measured kernel times: CSV files of rows (docs/reference/kernel-profile.md has the format). The
// rows of one kernel kind, type and traffic per element are a table, sorted by extents: 8 B for
// each extent and 12 B for each row. Immutable once read; thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_H_
#define DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/kernel/kernel_parameters.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct ProfileTable {
  KernelKind kind = KernelKind::kGemm;
  DataType type = DataType::kBf16;
  int64_t milli_bytes = 0;       // MilliBytesPerElement of its kernels
  size_t width = 0;              // extents of a row
  std::vector<int64_t> extents;  // `width` extents for each row; rows in ascending order
  std::vector<Time> times;
  std::vector<int32_t> lines;

  size_t size() const { return times.size(); }
  std::span<const int64_t> row(size_t i) const {
    return std::span(extents).subspan(i * width, width);
  }
};

struct Profile {
  std::string file_name;
  std::string gpu;     // the GPU type the rows were measured on
  std::string source;  // where the rows come from, as the header says
  KernelParameters::Clocks clocks = KernelParameters::Clocks::kSustained;  // of the measurement
  bool quantized = false;  // an fp8 GEMM's row contains the quantization of its activations
  double max_gap = 4;      // no interpolation between rows further apart than this factor
  double weight = 1;       // share of the rows' deviation from the model that is applied
  int64_t repeated = 0;    // rows that repeat another row
  std::vector<ProfileTable> tables;  // sorted by kind, type, bytes

  size_t row_count() const;
  // Null if no row of the kind, type and traffic per element was measured. The same extents with
  // other traffic are another kernel.
  const ProfileTable* TableOf(const Kernel& kernel) const;
};
using ProfilePtr = std::shared_ptr<const Profile>;

// Reports bad lines together, as file:line:column: the first 50, and the number of the others. A
// row that repeats another row is counted; a repeated row with another time is an error.
Result<Profile> ParseProfile(std::string_view text, const std::string& file_name);
Result<Profile> LoadProfile(const std::string& path);

// A row of a table.
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

// The two rows that enclose `kernel` in one extent and equal it in all others, at most max_gap
// apart. `at` is the kernel's position between them on a logarithmic scale, 0..1.
struct EnclosingPair {
  RowRef below, above;
  double at = 0;
};
// The closest such pair; ties go to the earlier extent.
std::optional<EnclosingPair> FindEnclosingPair(const Profile& profile, const Kernel& kernel);

// The rows nearest to `kernel` among the rows within max_gap of it in every extent. Empty unless in
// every extent one row lies at or below the kernel and one at or above it.
struct NearRow {
  RowRef row;
  double distance = 1;  // the largest ratio between two extents
};
inline constexpr size_t kMaxNearRows = 8;
std::vector<NearRow> FindEnclosing(const Profile& profile, const Kernel& kernel);

// The distance of the nearest row, as the largest ratio between two extents; 1 if the kernel was
// measured. nullopt if no row of the kernel kind and type was measured.
std::optional<NearRow> FindNearest(const Profile& profile, const Kernel& kernel);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_H_
