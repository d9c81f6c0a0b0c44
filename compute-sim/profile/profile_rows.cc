#include "compute-sim/profile/profile_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr int kMaxBytesEach = 1000000;

// The index of the extent that is the default of `extent`, or -1: as many keys as queries, and
// values as wide as keys.
int DefaultOf(const std::string& extent) {
  return extent == "kv_sequence" ? 1 : extent == "value_dim" ? 4 : -1;
}

bool ParseExtent(std::string_view text, bool flag, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() &&
         (flag ? *value == 0 || *value == 1 : *value > 0);
}

// The order of `table`'s rows: by extents, then by line.
std::vector<uint32_t> OrderOf(const ProfileTable& table) {
  std::vector<uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](uint32_t a, uint32_t b) {
    const auto x = table.row(a), y = table.row(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  // Rows were added line by line, so a stable sort keeps lines in order.
  if (!std::is_sorted(order.begin(), order.end(), less)) {
    std::stable_sort(order.begin(), order.end(), less);
  }
  return order;
}

ProfileTable InOrder(const ProfileTable& table, const std::vector<uint32_t>& order) {
  ProfileTable sorted{table.kind, table.type, table.milli_bytes, table.width, {}, {}, {}};
  sorted.extents.reserve(order.size() * table.width);
  sorted.times.reserve(order.size());
  sorted.lines.reserve(order.size());
  for (const uint32_t i : order) {
    const auto row = table.row(i);
    sorted.extents.insert(sorted.extents.end(), row.begin(), row.end());
    sorted.times.push_back(table.times[i]);
    sorted.lines.push_back(table.lines[i]);
  }
  return sorted;
}

// Empty if the traffic is the usual traffic of the kind.
std::string BytesText(const Kernel& kernel) {
  const int64_t bytes = MilliBytesPerElement(kernel);
  const std::optional<double> usual = UsualBytesPerElement(kernel.kind, kernel.type);
  if (bytes == 0 || (usual.has_value() && std::llround(*usual * 1000) == bytes)) return "";
  return fmt::format("{}", static_cast<double>(bytes) / 1000);
}

}  // namespace

std::string ProfileRowText(const Kernel& kernel, const std::vector<std::string>& columns,
                           double us) {
  const std::vector<std::string>& names = InfoOf(kernel.kind).dimensions;
  std::string line = fmt::format("{},{}", InfoOf(kernel.kind).name, ToString(kernel.type));
  for (const std::string& column : columns) {
    const auto found = std::find(names.begin(), names.end(), column);
    line += ',';
    if (column == kBytesColumn) line += BytesText(kernel);
    if (found != names.end()) {
      line += std::to_string(kernel.dims[static_cast<size_t>(found - names.begin())]);
    }
  }
  return line + fmt::format(",{:.6f} us\n", us);  // to the picosecond, the unit of Time
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string_view TrimBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

void SplitCommas(std::string_view line, std::vector<ProfileField>* fields) {
  fields->clear();
  for (size_t begin = 0;;) {
    const size_t end = std::min(line.find(',', begin), line.size());
    size_t first = begin, last = end;
    while (first < last && (line[first] == ' ' || line[first] == '\t')) ++first;
    const int column = static_cast<int>(first) + 1;
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (last > first && is_blank(line[last - 1])) --last;
    fields->push_back({line.substr(first, last - first), column});
    if (end == line.size()) return;
    begin = end + 1;
  }
}

std::vector<std::string> ProfileColumns() {
  std::vector<std::string> names = {"kernel", "dtype", "time"};
  for (const KernelInfo& info : KernelInfos()) {
    for (const std::string& name : info.dimensions) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  names.emplace_back(kBytesColumn);
  return names;
}

ProfileRows::ProfileRows(const std::vector<std::string>& columns) : columns_(columns) {
  const auto place = [&](const std::string& name) {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
  };
  kernel_ = static_cast<size_t>(place("kernel"));
  type_ = static_cast<size_t>(place("dtype"));
  time_ = static_cast<size_t>(place("time"));
  bytes_ = place(std::string(kBytesColumn));
  for (const KernelInfo& info : KernelInfos()) {
    ColumnsOfKernel& layout = layouts_.emplace_back();
    for (const std::string& name : info.dimensions) layout.place.push_back(place(name));
    for (size_t i = 0; i < columns_.size(); ++i) {
      const int at = static_cast<int>(i);
      const bool own =
          i == kernel_ || i == type_ || i == time_ || (at == bytes_ && IsMemoryKernel(info.kind)) ||
          std::find(layout.place.begin(), layout.place.end(), at) != layout.place.end();
      if (!own) layout.foreign.push_back(i);
    }
  }
}

std::optional<ProfileRows::Mistake> ProfileRows::Add(const std::vector<ProfileField>& fields,
                                                     int line) {
  if (auto mistake = FindTable(fields)) return mistake;
  if (auto mistake = AddExtents(fields)) return mistake;
  ProfileTable& table = tables_[current_];
  const Result<Time> time = ParseTime(fields[time_].text);
  if (!time.ok() || *time <= Time() || *time >= kLongestKernel) {
    table.extents.resize(table.size() * table.width);
    return Mistake{fields[time_].column, time.ok()
                                             ? "a kernel's time must be above 0 and below an hour"
                                             : time.error().message()};
  }
  table.times.push_back(*time);
  table.lines.push_back(line);
  return std::nullopt;
}

std::optional<ProfileRows::Mistake> ProfileRows::FindTable(
    const std::vector<ProfileField>& fields) {
  const ProfileField& name = fields[kernel_];
  const ProfileField& type = fields[type_];
  const ProfileField bytes = bytes_ < 0 ? ProfileField{} : fields[static_cast<size_t>(bytes_)];
  const bool as_before =
      name.text == current_kernel_ && type.text == current_type_ && bytes.text == current_bytes_;
  if (as_before && current_ < tables_.size()) return std::nullopt;  // the previous row has one
  const KernelInfo* info = FindKernelInfo(name.text);
  if (info == nullptr) {
    return Mistake{name.column,
                   fmt::format("unknown kernel '{}'{}; valid are {}", name.text,
                               DidYouMean(name.text, KernelNames()), Join(KernelNames()))};
  }
  const std::vector<std::string>& types = DataTypeNames();
  const auto found = std::find(types.begin(), types.end(), type.text);
  if (found == types.end()) {
    return Mistake{type.column, fmt::format("unknown data type '{}'{}; valid are {}", type.text,
                                            DidYouMean(type.text, types), Join(types))};
  }
  const DataType data_type = static_cast<DataType>(found - types.begin());
  int64_t milli_bytes = 0;
  if (auto mistake = ReadBytes(*info, data_type, bytes, &milli_bytes)) return mistake;
  for (current_ = 0; current_ < tables_.size(); ++current_) {
    const ProfileTable& table = tables_[current_];
    if (std::tie(table.kind, table.type, table.milli_bytes) ==
        std::tie(info->kind, data_type, milli_bytes)) {
      break;
    }
  }
  if (current_ == tables_.size()) {
    tables_.push_back({info->kind, data_type, milli_bytes, info->dimensions.size(), {}, {}, {}});
  }
  current_kernel_ = name.text;
  current_type_ = type.text;
  current_bytes_ = bytes.text;
  return std::nullopt;
}

// The traffic in the row, or else the usual traffic; 0 for a kernel that is not memory-bound.
std::optional<ProfileRows::Mistake> ProfileRows::ReadBytes(const KernelInfo& info, DataType type,
                                                           const ProfileField& field,
                                                           int64_t* milli_bytes) {
  if (!IsMemoryKernel(info.kind)) return std::nullopt;
  std::optional<double> bytes = UsualBytesPerElement(info.kind, type);
  if (!field.text.empty()) {
    double given = 0;
    const char* last = field.text.data() + field.text.size();
    const auto [end, error] = std::from_chars(field.text.data(), last, given);
    if (error != std::errc() || end != last || !(given >= 0.001) || !(given <= kMaxBytesEach)) {
      return Mistake{field.column,
                     fmt::format("expected a number from 0.001 to {} for 'bytes', found '{}'",
                                 kMaxBytesEach, field.text)};
    }
    bytes = given;
  }
  if (!bytes.has_value()) {
    return Mistake{field.column, fmt::format("a {} needs 'bytes', what it moves for each element "
                                             "of rows x columns: its extents do not say",
                                             info.name)};
  }
  *milli_bytes = std::llround(*bytes * 1000);
  return std::nullopt;
}

// Does not change the table if the row has a mistake.
std::optional<ProfileRows::Mistake> ProfileRows::AddExtents(
    const std::vector<ProfileField>& fields) {
  ProfileTable& table = tables_[current_];
  const KernelInfo& info = InfoOf(table.kind);
  const ColumnsOfKernel& layout = layouts_[static_cast<size_t>(table.kind)];
  for (const size_t i : layout.foreign) {
    if (fields[i].text.empty()) continue;
    return Mistake{fields[i].column, fmt::format("a {} has no '{}'; its extents are {}", info.name,
                                                 columns_[i], Join(info.dimensions))};
  }
  int64_t row[kMaxKernelDims] = {};
  for (size_t i = 0; i < table.width; ++i) {
    const std::string& name = info.dimensions[i];
    const bool given = layout.place[i] >= 0;
    const ProfileField field =
        given ? fields[static_cast<size_t>(layout.place[i])] : ProfileField{};
    if (field.text.empty() && DefaultOf(name) >= 0) {
      row[i] = row[DefaultOf(name)];
      continue;
    }
    if (!given) return Mistake{1, fmt::format("a {} needs the column '{}'", info.name, name)};
    const bool flag = name == "causal";
    const bool parsed = ParseExtent(field.text, flag, &row[i]);
    if (parsed && row[i] <= kMaxExtent) continue;
    if (parsed) {
      return Mistake{field.column, fmt::format("'{}' is too large for '{}': the most is {}",
                                               field.text, name, kMaxExtent)};
    }
    return Mistake{field.column,
                   fmt::format("expected {} for '{}', found '{}'",
                               flag ? "0 or 1" : "a whole number above 0", name, field.text)};
  }
  if (IsAttention(table.kind)) {
    const std::string contradiction =
        ContradictionOf({row[0], row[1], row[2], row[3], row[4], row[5] != 0, row[6], row[7]});
    if (!contradiction.empty()) return Mistake{1, "this attention " + contradiction};
  }
  table.extents.insert(table.extents.end(), row, row + table.width);
  return std::nullopt;
}

std::vector<ProfileTable> ProfileRows::Sorted() {
  std::sort(tables_.begin(), tables_.end(), [](const ProfileTable& a, const ProfileTable& b) {
    return std::tie(a.kind, a.type, a.milli_bytes) < std::tie(b.kind, b.type, b.milli_bytes);
  });
  for (ProfileTable& table : tables_) {
    const std::vector<uint32_t> order = OrderOf(table);
    if (!std::is_sorted(order.begin(), order.end())) table = InOrder(table, order);
  }
  return std::move(tables_);
}

std::vector<RepeatedRow> DropRepeated(ProfileTable* table) {
  std::vector<RepeatedRow> repeated;
  std::vector<uint32_t> kept;
  for (size_t i = 0; i < table->size(); ++i) {
    const bool again = !kept.empty() && std::ranges::equal(table->row(kept.back()), table->row(i));
    if (!again) {
      kept.push_back(static_cast<uint32_t>(i));
      continue;
    }
    repeated.push_back(
        {table->lines[i], table->lines[kept.back()], table->times[i], table->times[kept.back()]});
  }
  if (!repeated.empty()) *table = InOrder(*table, kept);
  return repeated;
}

}  // namespace drydock
