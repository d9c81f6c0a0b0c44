// A table as other tools write it: comma-separated, a line of column names first, fields that may
// be in double quotes.
#ifndef DRYDOCK_COMPUTE_SIM_FOREIGN_TABLE_H_
#define DRYDOCK_COMPUTE_SIM_FOREIGN_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

class ForeignTable {
 public:
  static Result<ForeignTable> Read(const std::string& path);

  size_t size() const { return rows_.size(); }
  bool Has(const std::string& column) const { return columns_.contains(column); }
  // An error with the place if the column is missing, or the field empty or no such number.
  Result<std::string> Text(size_t row, const std::string& column) const;
  Result<int64_t> Integer(size_t row, const std::string& column) const;  // from 0; "8.0" is 8
  Result<double> Positive(size_t row, const std::string& column) const;
  // False if the column is missing or the field empty or "nan".
  bool Given(size_t row, const std::string& column) const;

 private:
  Status NameColumns(const std::vector<std::string>& names, int line);
  Error Wrong(size_t row, const std::string& column, const std::string& expected) const;

  std::string path_;
  std::map<std::string, size_t> columns_;
  size_t width_ = 0;  // fields of the line of column names
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FOREIGN_TABLE_H_
