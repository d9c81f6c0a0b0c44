#include "compute-sim/foreign_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

bool ParseNumber(const std::string& text, double* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*value);
}

}  // namespace

Result<ForeignTable> ForeignTable::Read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (text.starts_with("PAR1")) {
    return Error("this is a Parquet file; export it as comma-separated text first", {path, 0, 0});
  }
  ForeignTable table;
  table.path_ = path;
  int line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    std::vector<std::string> fields = Fields(line);
    if (table.columns_.empty()) {
      RETURN_IF_ERROR(table.NameColumns(fields, line_number));
      continue;
    }
    if (fields.size() < table.width_) {
      return Error(fmt::format("expected {} fields, as in the line of column names, found {}",
                               table.width_, fields.size()),
                   {path, line_number, 1}, line);
    }
    table.rows_.push_back(std::move(fields));
    table.lines_.push_back(line_number);
  }
  if (table.columns_.empty()) return Error("there is no line of column names", {path, 0, 0});
  return table;
}

// A name that is there twice would hide one of the columns. Some tools leave names empty.
Status ForeignTable::NameColumns(const std::vector<std::string>& names, int line) {
  width_ = names.size();
  int at = 1;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!columns_.emplace(names[i], i).second && !names[i].empty()) {
      return Error(fmt::format("the column '{}' is there twice", names[i]), {path_, line, at});
    }
    at += static_cast<int>(names[i].size()) + 1;
  }
  return OkStatus();
}

Error ForeignTable::Wrong(size_t row, const std::string& column,
                          const std::string& expected) const {
  const size_t place = columns_.at(column);
  int at = 1;
  for (size_t i = 0; i < place; ++i) at += static_cast<int>(rows_[row][i].size()) + 1;
  return Error(fmt::format("expected {} for '{}', found '{}'", expected, column, rows_[row][place]),
               {path_, lines_[row], at});
}

Result<std::string> ForeignTable::Text(size_t row, const std::string& column) const {
  const auto found = columns_.find(column);
  if (found == columns_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, place] : columns_) names.push_back(name);
    return Error(fmt::format("there is no column '{}'{}", column, DidYouMean(column, names)),
                 {path_, 0, 0});
  }
  return rows_[row][found->second];
}

Result<int64_t> ForeignTable::Integer(size_t row, const std::string& column) const {
  ASSIGN_OR_RETURN(const std::string text, Text(row, column));
  double value = 0;
  if (!ParseNumber(text, &value) || value < 0 || value > 1e15 || value != std::floor(value)) {
    return Wrong(row, column, "a whole number from 0");
  }
  return static_cast<int64_t>(value);
}

Result<double> ForeignTable::Positive(size_t row, const std::string& column) const {
  ASSIGN_OR_RETURN(const std::string text, Text(row, column));
  double value = 0;
  if (!ParseNumber(text, &value) || !(value > 0)) return Wrong(row, column, "a number above 0");
  return value;
}

bool ForeignTable::Given(size_t row, const std::string& column) const {
  const auto found = columns_.find(column);
  if (found == columns_.end()) return false;
  const std::string& text = rows_[row][found->second];
  return !text.empty() && text != "nan" && text != "NaN";
}

}  // namespace drydock
