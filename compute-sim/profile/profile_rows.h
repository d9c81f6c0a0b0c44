// The rows of a profile while it is read: fields into tables, tables into order.
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

// What a memory-bound kernel moves for each element, where that is not the usual.
inline constexpr std::string_view kBytesColumn = "bytes";

// The line of a row under `columns` and a last one for the time; what it does not have is empty.
std::string ProfileRowText(const Kernel& kernel, const std::vector<std::string>& columns,
                           double us);

std::string_view TrimBlanks(std::string_view text);
// Spreadsheets put a mark before what they save as UTF-8.
std::string_view WithoutByteOrderMark(std::string_view text);
// At every comma; overwrites *fields.
void SplitCommas(std::string_view line, std::vector<ProfileField>* fields);

// "kernel", "dtype", "time", every name an extent has, and "bytes".
std::vector<std::string> ProfileColumns();

class ProfileRows {
 public:
  // `columns`: known names, each once.
  explicit ProfileRows(const std::vector<std::string>& columns);

  struct Mistake {
    int column = 1;
    std::string message;
  };
  // One row, as many fields as there are columns; what is wrong with it, if anything.
  std::optional<Mistake> Add(const std::vector<ProfileField>& fields, int line);

  // The tables in order, each sorted by extents and then line. Leaves nothing behind.
  std::vector<ProfileTable> Sorted();

 private:
  std::optional<Mistake> FindTable(const std::vector<ProfileField>& fields);
  static std::optional<Mistake> ReadBytes(const KernelInfo& info, DataType type,
                                          const ProfileField& field, int64_t* milli_bytes);
  std::optional<Mistake> AddExtents(const std::vector<ProfileField>& fields);

  // Where each extent of a kernel stands among the columns, -1 if nowhere, and the columns that
  // must be empty.
  struct Layout {
    std::vector<int> place;
    std::vector<size_t> foreign;
  };
  std::vector<std::string> columns_;
  size_t kernel_ = 0, type_ = 0, time_ = 0;
  int bytes_ = -1;               // -1: no such column
  std::vector<Layout> layouts_;  // by kernel kind
  std::vector<ProfileTable> tables_;
  size_t current_ = 0;  // the table of the row before: mostly this one's too
  std::string current_kernel_, current_type_, current_bytes_;
};

// A row with the extents of an earlier one, which stays.
struct DoubledRow {
  int line = 0, first_line = 0;
  Time time, first_time;
};
std::vector<DoubledRow> DropDoubled(ProfileTable* table);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_ROWS_H_
