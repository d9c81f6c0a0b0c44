#include "compute-sim/import/foreign_table.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "compute-sim/profile/profile_rows.h"
#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

bool ParseNumber(const std::string& text, double* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*value);
}

// Detects files that users often pass instead of a table.
Status CheckIsText(const std::string& text, const std::string& path) {
  if (text.starts_with("PAR1")) {
    return Error(
        "this is a Parquet file; make text of it with 'python3 -m drydock.parquet FILE -o "
        "FILE.csv', of the Python package with its extra 'parquet'",
        {path, 0, 0});
  }
  if (text.starts_with("version https://git-lfs")) {
    return Error("this is a pointer of Git LFS, not the table; fetch it with 'git lfs pull'",
                 {path, 0, 0});
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<ForeignTable::Field>> ForeignTable::Fields(const std::string& line,
                                                              const Location& here) {
  std::vector<Field> fields(1);
  int quote = 0;  // the column of the open quote
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const int column = static_cast<int>(i) + 1;
    if (c == '"') {
      quote = quote > 0 ? 0 : column;
    } else if (c == ',' && quote == 0) {
      fields.push_back({"", column + 1});
    } else if (c != '\r') {
      fields.back().text += c;
    }
  }
  if (quote == 0) return fields;
  return Error("this quote is not closed on its line", {here.file, here.line, quote}, line);
}

Result<ForeignTable> ForeignTable::Read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  RETURN_IF_ERROR(CheckIsText(file, path));
  const std::string text(WithoutByteOrderMark(file));
  ForeignTable table;
  table.path_ = path;
  int line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const Location here{path, ++line_number, 1};
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    ASSIGN_OR_RETURN(std::vector<Field> fields, Fields(line, here));
    RETURN_IF_ERROR(table.columns_.empty() ? table.NameColumns(fields, here)
                                           : table.AddRow(std::move(fields), line, here));
  }
  if (table.columns_.empty()) return Error("there is no line of column names", {path, 0, 0});
  return table;
}

// A repeated name would hide a column. Some tools leave names empty.
Status ForeignTable::NameColumns(const std::vector<Field>& names, const Location& here) {
  width_ = names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    if (columns_.emplace(names[i].text, i).second || names[i].text.empty()) continue;
    return Error(fmt::format("the column '{}' occurs twice", names[i].text),
                 {here.file, here.line, names[i].column});
  }
  return OkStatus();
}

// One field too many would shift all later fields into wrong columns.
Status ForeignTable::AddRow(std::vector<Field> fields, const std::string& line,
                            const Location& here) {
  if (fields.size() != width_) {
    const int column = fields.size() < width_ ? 1 : fields[width_].column;
    return Error(fmt::format("expected {} fields, as in the line of column names, found {}", width_,
                             fields.size()),
                 {here.file, here.line, column}, line);
  }
  rows_.push_back({std::move(fields), here.line});
  return OkStatus();
}

const ForeignTable::Field* ForeignTable::FieldOf(size_t row, const std::string& column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? nullptr : &rows_[row].fields[found->second];
}

Error ForeignTable::Missing(const std::string& column) const {
  std::vector<std::string> names;
  for (const auto& [name, place] : columns_) names.push_back(name);
  return Error(fmt::format("there is no column '{}'{}", column, DidYouMean(column, names)),
               {path_, 0, 0});
}

Error ForeignTable::Wrong(size_t row, const std::string& column,
                          const std::string& expected) const {
  const Field& field = *FieldOf(row, column);
  return Error(fmt::format("expected {} for '{}', found '{}'", expected, column, field.text),
               {path_, rows_[row].line, field.column});
}

Result<std::string> ForeignTable::Text(size_t row, const std::string& column) const {
  const Field* field = FieldOf(row, column);
  if (field == nullptr) return Missing(column);
  if (field->text.empty()) return Wrong(row, column, "a word");
  return field->text;
}

Result<int64_t> ForeignTable::Integer(size_t row, const std::string& column) const {
  const Field* field = FieldOf(row, column);
  if (field == nullptr) return Missing(column);
  double value = 0;
  if (!ParseNumber(field->text, &value) || value < 0 || value > 1e15 ||
      value != std::floor(value)) {
    return Wrong(row, column, "a whole number from 0");
  }
  return static_cast<int64_t>(value);
}

Result<double> ForeignTable::NotNegative(size_t row, const std::string& column) const {
  const Field* field = FieldOf(row, column);
  if (field == nullptr) return Missing(column);
  double value = 0;
  if (!ParseNumber(field->text, &value) || !(value >= 0)) {
    return Wrong(row, column, "a number from 0");
  }
  return value;
}

Result<double> ForeignTable::Positive(size_t row, const std::string& column) const {
  const Result<double> value = NotNegative(row, column);
  if (value.ok() && *value > 0) return value;
  return FieldOf(row, column) == nullptr ? Missing(column) : Wrong(row, column, "a number above 0");
}

Result<bool> ForeignTable::Flag(size_t row, const std::string& column) const {
  const Field* field = FieldOf(row, column);
  if (field == nullptr) return Missing(column);
  for (const char* word : {"True", "true", "TRUE", "1"}) {
    if (field->text == word) return true;
  }
  for (const char* word : {"False", "false", "FALSE", "0"}) {
    if (field->text == word) return false;
  }
  return Wrong(row, column, "True or False");
}

Status ForeignTable::Integers(
    size_t row, std::initializer_list<std::pair<const char*, int64_t*>> columns) const {
  for (const auto& [name, value] : columns) {
    ASSIGN_OR_RETURN(*value, Integer(row, name));
  }
  return OkStatus();
}

bool ForeignTable::Given(size_t row, const std::string& column) const {
  const Field* field = FieldOf(row, column);
  return field != nullptr && !field->text.empty() && field->text != "nan" && field->text != "NaN";
}

}  // namespace drydock
