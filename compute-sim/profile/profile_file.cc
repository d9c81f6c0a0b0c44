// The CSV format of profiles. A million rows take well under a second: fields are views into the
// text, and no row allocates memory.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "compute-sim/profile/profile.h"
#include "compute-sim/profile/profile_rows.h"
#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

constexpr int64_t kMaxDiagnostics = 50;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file_name)
      : text_(WithoutByteOrderMark(text)), file_name_(file_name) {
    profile_.file_name = file_name;
  }

  Result<Profile> Parse() {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      line_ = text_.substr(begin, end - begin);
      ++line_number_;
      Line();
      begin = end + 1;
    }
    Finish();
    RETURN_IF_ERROR(diagnostics_.ToStatus());
    return std::move(profile_);
  }

 private:
  void Add(int line, int column, const std::string& message, std::string_view source = {}) {
    if (++mistakes_ > kMaxDiagnostics) return;
    diagnostics_.Add(Error(message, {file_name_, line, column}, std::string(source)));
  }
  void Fail(int column, const std::string& message) { Add(line_number_, column, message, line_); }

  void Line() {
    const std::string_view trimmed = TrimBlanks(line_);
    if (trimmed.empty()) return;
    if (trimmed[0] == '#')
      HeaderLine(trimmed);
    else if (columns_.empty())
      ColumnLine();
    else if (columns_ok_)
      DataLine();
  }

  void HeaderLine(std::string_view trimmed) {
    const size_t colon = trimmed.find(':');
    if (colon == std::string_view::npos) return;  // a remark
    const std::string key(TrimBlanks(trimmed.substr(1, colon - 1)));
    const std::string value(TrimBlanks(trimmed.substr(colon + 1)));
    static const std::vector<std::string> known = {
        "gpu",    "provenance", "method",    "date",           "clocks",  "max-gap",
        "weight", "driver",     "libraries", "measured-clock", "contains"};
    const int column = static_cast<int>(line_.find(key)) + 1;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Fail(column, fmt::format("unknown header key '{}'{}; valid are {}", key,
                                      DidYouMean(key, known), Join(known)));
    }
    if (!header_.emplace(key, value).second) {
      return Fail(column, fmt::format("'{}' is given twice", key));
    }
    if (key == "clocks") ReadClocks(value);
    if (key == "contains") {
      profile_.quantized = value == "quantise";
      if (!profile_.quantized) {
        Fail(static_cast<int>(line_.rfind(value)) + 1,
             fmt::format("rows of fp8 GEMMs can contain 'quantise', not '{}'", value));
      }
    }
    if (key == "max-gap") ReadNumber(value, 1, 1e9, &profile_.max_gap);
    if (key == "weight") ReadNumber(value, 0, 1, &profile_.weight);
  }

  void ReadClocks(const std::string& value) {
    const std::optional<KernelParameters::Clocks> clocks = KernelParameters::ClocksOf(value);
    if (!clocks) {
      return Fail(static_cast<int>(line_.rfind(value)) + 1,
                  fmt::format("clocks are 'burst' or 'sustained', not '{}'", value));
    }
    profile_.clocks = *clocks;
  }

  void ReadNumber(const std::string& value, double low, double high, double* out) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *out);
    if (error != std::errc() || end != value.data() + value.size() || !(*out >= low) ||
        !(*out <= high)) {
      Fail(static_cast<int>(line_.rfind(value)) + 1,
           fmt::format("expected a number from {} to {}", low, high));
    }
  }

  void ColumnLine() {
    columns_ok_ = true;
    const std::vector<std::string> known = ProfileColumns();
    SplitCommas(line_, &fields_);
    for (const ProfileField& field : fields_) {
      columns_.emplace_back(field.text);
      if (std::find(known.begin(), known.end(), field.text) != known.end()) continue;
      Fail(field.column, fmt::format("unknown column '{}'{}; valid are {}", field.text,
                                     DidYouMean(field.text, known), Join(known)));
      columns_ok_ = false;
    }
    for (const std::string& name : known) {
      const auto count = std::count(columns_.begin(), columns_.end(), name);
      const bool needed = name == "kernel" || name == "dtype" || name == "time";
      if (count > 1 || (needed && count == 0)) {
        Fail(1, fmt::format("the column '{}' must be there once", name));
        columns_ok_ = false;
      }
    }
    if (columns_ok_) rows_.emplace(columns_);
  }

  void DataLine() {
    SplitCommas(line_, &fields_);
    if (fields_.size() != columns_.size()) {
      return Fail(1, fmt::format("expected {} fields, as in the column line, found {}",
                                 columns_.size(), fields_.size()));
    }
    if (const auto mistake = rows_->Add(fields_, line_number_)) {
      Fail(mistake->column, mistake->message);
    }
  }

  std::string Needed(const std::string& key) {
    const auto found = header_.find(key);
    if (found != header_.end() && !found->second.empty()) return found->second;
    Add(0, 0, fmt::format("a profile needs the header line '# {}: ...'", key));
    return "";
  }

  void Finish() {
    profile_.gpu = Needed("gpu");
    for (const char* key : {"provenance", "method", "date"}) {
      profile_.source += (profile_.source.empty() ? "" : "; ") + Needed(key);
    }
    for (const char* key : {"driver", "libraries", "measured-clock"}) {
      const auto found = header_.find(key);
      if (found != header_.end()) profile_.source += fmt::format("; {} {}", key, found->second);
    }
    if (columns_.empty()) {
      Add(0, 0, "a profile needs a column line like 'kernel,dtype,m,n,k,time'");
    }
    if (rows_.has_value()) TakeTables();
    if (mistakes_ > kMaxDiagnostics) {
      diagnostics_.Add(
          Error(fmt::format("and {} more mistakes like these", mistakes_ - kMaxDiagnostics),
                {file_name_, 0, 0}));
    }
  }

  void TakeTables() {
    profile_.tables = rows_->Sorted();
    for (ProfileTable& table : profile_.tables) {
      for (const RepeatedRow& repeated : DropRepeated(&table)) {
        if (repeated.time == repeated.first_time) {
          ++profile_.repeated;
          continue;
        }
        Add(repeated.line, 1,
            fmt::format("the same kernel and extents as in line {}, but {} instead of {}",
                        repeated.first_line, ToString(repeated.time),
                        ToString(repeated.first_time)));
      }
    }
  }

  const std::string_view text_;
  const std::string file_name_;
  std::string_view line_;
  int line_number_ = 0;
  bool columns_ok_ = false;
  std::vector<std::string> columns_;
  std::vector<ProfileField> fields_;
  std::optional<ProfileRows> rows_;
  std::map<std::string, std::string> header_;
  Profile profile_;
  Diagnostics diagnostics_;
  int64_t mistakes_ = 0;
};

}  // namespace

Result<Profile> ParseProfile(std::string_view text, const std::string& file_name) {
  return Parser(text, file_name).Parse();
}

Result<Profile> LoadProfile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseProfile(text, path);
}

}  // namespace drydock
