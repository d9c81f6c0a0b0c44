// A table of another tool: comma-separated, with a line of column names first; fields may be in
// double quotes.
#ifndef DRYDOCK_COMPUTE_SIM_IMPORT_FOREIGN_TABLE_H_
#define DRYDOCK_COMPUTE_SIM_IMPORT_FOREIGN_TABLE_H_

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace drydock {

class ForeignTable {
 public:
  // An error if a row has more or fewer fields than there are column names.
  static Result<ForeignTable> Read(const std::string& path);

  size_t size() const { return rows_.size(); }
  bool Has(const std::string& column) const { return columns_.contains(column); }
  // Each returns an error with the location if the column is missing, if the field is empty, or if
  // the field is not such a number.
  Result<std::string> Text(size_t row, const std::string& column) const;
  Result<int64_t> Integer(size_t row, const std::string& column) const;  // from 0; "8.0" is 8
  Result<double> Positive(size_t row, const std::string& column) const;
  Result<double> NotNegative(size_t row, const std::string& column) const;
  Result<bool> Flag(size_t row, const std::string& column) const;  // true, false, 1, 0
  // Reads the Integer of each column; stops at the first mistake.
  Status Integers(size_t row,
                  std::initializer_list<std::pair<const char*, int64_t*>> columns) const;
  // False if the column is missing or the field empty or "nan".
  bool Given(size_t row, const std::string& column) const;

 private:
  struct Field {
    std::string text;  // without its quotes
    int column = 1;    // where it begins in its line, 1-based
  };
  struct Row {
    std::vector<Field> fields;
    int line = 0;
  };
  static Result<std::vector<Field>> Fields(const std::string& line, const Location& here);
  Status NameColumns(const std::vector<Field>& names, const Location& here);
  Status AddRow(std::vector<Field> fields, const std::string& line, const Location& here);
  // Null if there is no such column.
  const Field* FieldOf(size_t row, const std::string& column) const;
  Error Missing(const std::string& column) const;
  Error Wrong(size_t row, const std::string& column, const std::string& expected) const;

  std::string path_;
  std::map<std::string, size_t> columns_;
  size_t width_ = 0;  // number of column names
  std::vector<Row> rows_;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_IMPORT_FOREIGN_TABLE_H_
