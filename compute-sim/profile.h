// Measured kernel times: CSV files of rows (docs/compute.md gives the format). Rows of one kernel
// and type are kept sorted by extents, so a look-up is a binary search. Immutable once read.
#ifndef DRYDOCK_COMPUTE_SIM_PROFILE_H_
#define DRYDOCK_COMPUTE_SIM_PROFILE_H_

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compute-sim/kernel.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct ProfileRow {
  Kernel kernel;  // kind, type and dims only
  Time time;
  int line = 0;
};

// What a row is found by, and what rows are sorted by.
inline auto KeyOf(const Kernel& kernel) { return std::tie(kernel.kind, kernel.type, kernel.dims); }

struct Profile {
  std::string file_name;
  std::string gpu;               // the GPU type the rows were measured on
  std::string source;            // provenance, method and date, as the header says
  bool burst = false;            // measured in short bursts, not under the load of a long run
  double max_gap = 4;            // rows further apart than this factor are not joined
  double weight = 1;             // share of a neighbour's deviation from the model that is believed
  std::vector<ProfileRow> rows;  // sorted by kind, type, dims
};

// Reports every bad line at once, as file:line:column.
Result<Profile> ParseProfile(const std::string& text, const std::string& file_name);
Result<Profile> LoadProfile(const std::string& path);

// The row with exactly these extents, or null.
const ProfileRow* FindRow(const Profile& profile, const Kernel& kernel);

// The two rows that enclose `kernel` in one extent and equal it in all others, no further apart
// than max_gap; `at` is where it lies between them on a logarithmic scale, 0..1.
struct Neighbours {
  const ProfileRow* below = nullptr;
  const ProfileRow* above = nullptr;
  double at = 0;
};
// The closest such pair; ties go to the earlier extent.
std::optional<Neighbours> FindNeighbours(const Profile& profile, const Kernel& kernel);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_H_
