// Reads the rows of a profile: splits lines into fields, adds rows to tables, sorts the tables.
#ifndef DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_ROWS_H_
#define DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_ROWS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute-sim/profile/profile.h"

namespace drydock {

struct ProfileField {
  std::string_view text;  // without blanks around it
  int column = 1;         // 1-based
};

// The traffic of a memory-bound kernel per element, if it is not the usual traffic.
inline constexpr std::string_view kBytesColumn = "bytes";

// The line of a row under `columns` and a last column for the time; columns without a value are
// empty.
std::string ProfileRowText(const Kernel& kernel, const std::vector<std::string>& columns,
                           double us);

std::string_view TrimBlanks(std::string_view text);
// Spreadsheets write a byte-order mark at the start of UTF-8 files.
std::string_view WithoutByteOrderMark(std::string_view text);
// Splits at every comma; overwrites *fields.
void SplitCommas(std::string_view line, std::vector<ProfileField>* fields);

// "kernel", "dtype", "time", the name of every extent, and "bytes".
std::vector<std::string> ProfileColumns();

class ProfileRows {
 public:
  // `columns`: known names, each once.
  explicit ProfileRows(const std::vector<std::string>& columns);

  struct Mistake {
    int column = 1;
    std::string message;
  };
  // Adds one row, which has one field for each column. Returns the mistake in the row, if any.
  std::optional<Mistake> Add(const std::vector<ProfileField>& fields, int line);

  // Returns the tables in order, each sorted by extents and then by line. Empties the reader.
  std::vector<ProfileTable> Sorted();

 private:
  std::optional<Mistake> FindTable(const std::vector<ProfileField>& fields);
  static std::optional<Mistake> ReadBytes(const KernelInfo& info, DataType type,
                                          const ProfileField& field, int64_t* milli_bytes);
  std::optional<Mistake> AddExtents(const std::vector<ProfileField>& fields);

  // The column of each extent of a kernel (-1: there is no such column), and the columns that must
  // be empty.
  struct ColumnsOfKernel {
    std::vector<int> place;
    std::vector<size_t> foreign;
  };
  std::vector<std::string> columns_;
  size_t kernel_ = 0, type_ = 0, time_ = 0;
  int bytes_ = -1;                        // -1: no such column
  std::vector<ColumnsOfKernel> layouts_;  // by kernel kind
  std::vector<ProfileTable> tables_;
  size_t current_ = 0;  // the table of the previous row; often the next row is of the same table
  std::string current_kernel_, current_type_, current_bytes_;
};

// A row with the extents of an earlier row; the earlier row stays.
struct RepeatedRow {
  int line = 0, first_line = 0;
  Time time, first_time;
};
std::vector<RepeatedRow> DropRepeated(ProfileTable* table);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_ROWS_H_
