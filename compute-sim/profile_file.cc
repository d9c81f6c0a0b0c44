// The CSV format of profiles.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "compute-sim/profile.h"
#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

struct Field {
  std::string text;
  int column = 1;  // 1-based
};

std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<Field> SplitCommas(const std::string& line) {
  std::vector<Field> fields;
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(line.find(',', begin), line.size());
    const size_t text = std::min(line.find_first_not_of(" \t", begin), end);
    fields.push_back({Trim(line.substr(begin, end - begin)), static_cast<int>(text) + 1});
    if (end == line.size()) return fields;
    begin = end + 1;
  }
}

// Every name a column may have beside "kernel", "dtype" and "time".
std::vector<std::string> DimensionColumns() {
  std::vector<std::string> names;
  for (const KernelInfo& info : KernelInfos()) {
    for (const std::string& name : info.dimensions) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& file_name)
      : text_(text), file_name_(file_name) {
    profile_.file_name = file_name;
  }

  Result<Profile> Parse() {
    size_t begin = 0;
    while (begin < text_.size()) {
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
  void Fail(int column, const std::string& message) {
    diagnostics_.Add(Error(message, {file_name_, line_number_, column}, line_));
  }

  void Line() {
    const std::string trimmed = Trim(line_);
    if (trimmed.empty()) return;
    if (trimmed[0] == '#')
      HeaderLine(trimmed);
    else if (!seen_columns_)
      ColumnLine();
    else if (columns_ok_)
      DataLine();
  }

  void HeaderLine(const std::string& trimmed) {
    const size_t colon = trimmed.find(':');
    if (colon == std::string::npos) return;  // a remark
    const std::string key = Trim(trimmed.substr(1, colon - 1));
    const std::string value = Trim(trimmed.substr(colon + 1));
    static const std::vector<std::string> known = {"gpu",    "provenance", "method", "date",
                                                   "clocks", "max-gap",    "weight"};
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Fail(static_cast<int>(line_.find(key)) + 1,
                  fmt::format("unknown header key '{}'{}; valid are {}", key,
                              DidYouMean(key, known), Join(known)));
    }
    if (!header_.emplace(key, value).second) {
      return Fail(static_cast<int>(line_.find(key)) + 1, fmt::format("'{}' is given twice", key));
    }
    if (key == "clocks") {
      profile_.burst = value == "burst";
      if (!profile_.burst && value != "sustained") {
        Fail(static_cast<int>(line_.rfind(value)) + 1,
             fmt::format("clocks are 'burst' or 'sustained', not '{}'", value));
      }
    }
    if (key == "max-gap") ReadNumber(value, 1, 1e9, &profile_.max_gap);
    if (key == "weight") ReadNumber(value, 0, 1, &profile_.weight);
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
    seen_columns_ = true;
    columns_ok_ = true;
    std::vector<std::string> known = DimensionColumns();
    known.insert(known.begin(), {"kernel", "dtype", "time"});
    for (const Field& field : SplitCommas(line_)) {
      if (std::find(known.begin(), known.end(), field.text) == known.end()) {
        Fail(field.column, fmt::format("unknown column '{}'{}; valid are {}", field.text,
                                       DidYouMean(field.text, known), Join(known)));
        columns_ok_ = false;
      }
      columns_.push_back(field.text);
    }
    for (const char* needed : {"kernel", "dtype", "time"}) {
      if (std::count(columns_.begin(), columns_.end(), needed) == 1) continue;
      Fail(1, fmt::format("the column '{}' must be there once", needed));
      columns_ok_ = false;
    }
  }

  void DataLine() {
    const std::vector<Field> fields = SplitCommas(line_);
    if (fields.size() != columns_.size()) {
      return Fail(1, fmt::format("expected {} fields, as in the column line, found {}",
                                 columns_.size(), fields.size()));
    }
    std::map<std::string, Field> by_name;
    for (size_t i = 0; i < fields.size(); ++i) by_name[columns_[i]] = fields[i];
    ProfileRow row;
    row.line = line_number_;
    if (ReadKernel(by_name, &row) && ReadDims(by_name, &row) && ReadTime(by_name["time"], &row)) {
      profile_.rows.push_back(row);
    }
  }

  bool ReadKernel(const std::map<std::string, Field>& fields, ProfileRow* row) {
    const Field& name = fields.at("kernel");
    const KernelInfo* info = FindKernelInfo(name.text);
    if (info == nullptr) {
      Fail(name.column, fmt::format("unknown kernel '{}'{}; valid are {}", name.text,
                                    DidYouMean(name.text, KernelNames()), Join(KernelNames())));
      return false;
    }
    row->kernel.kind = info->kind;
    const Field& type = fields.at("dtype");
    const std::vector<std::string>& types = DataTypeNames();
    const auto found = std::find(types.begin(), types.end(), type.text);
    if (found == types.end()) {
      Fail(type.column, fmt::format("unknown data type '{}'{}; valid are {}", type.text,
                                    DidYouMean(type.text, types), Join(types)));
      return false;
    }
    row->kernel.type = static_cast<DataType>(found - types.begin());
    return true;
  }

  bool ReadDims(const std::map<std::string, Field>& fields, ProfileRow* row) {
    const KernelInfo& info = InfoOf(row->kernel.kind);
    for (const auto& [name, field] : fields) {
      const bool own =
          std::find(info.dimensions.begin(), info.dimensions.end(), name) != info.dimensions.end();
      if (own || field.text.empty() || name == "kernel" || name == "dtype" || name == "time")
        continue;
      Fail(field.column, fmt::format("a {} has no '{}'; its extents are {}", info.name, name,
                                     Join(info.dimensions)));
      return false;
    }
    for (size_t i = 0; i < info.dimensions.size(); ++i) {
      const std::string& name = info.dimensions[i];
      const auto field = fields.find(name);
      const bool absent = field == fields.end() || field->second.text.empty();
      if (absent && (name == "kv_sequence" || name == "value_dim")) {
        row->kernel.dims[i] = row->kernel.dims[name == "kv_sequence" ? 1 : 4];  // as many, as wide
        continue;
      }
      if (field == fields.end()) {
        Fail(1, fmt::format("a {} needs the column '{}'", info.name, name));
        return false;
      }
      if (!ReadExtent(field->second, name, &row->kernel.dims[i])) return false;
    }
    return true;
  }

  bool ReadExtent(const Field& field, const std::string& name, int64_t* value) {
    const std::string& text = field.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    const bool flag = name == "causal";
    const bool good = error == std::errc() && end == text.data() + text.size() &&
                      (flag ? *value == 0 || *value == 1 : *value > 0);
    if (good) return true;
    Fail(field.column,
         flag ? fmt::format("expected 0 or 1 for 'causal', found '{}'", text)
              : fmt::format("expected a whole number above 0 for '{}', found '{}'", name, text));
    return false;
  }

  bool ReadTime(const Field& field, ProfileRow* row) {
    const Result<Time> time = ParseTime(field.text);
    if (time.ok() && *time > Time()) {
      row->time = *time;
      return true;
    }
    Fail(field.column, time.ok() ? "a kernel's time must be above 0" : time.error().message());
    return false;
  }

  void Finish() {
    const auto need = [&](const std::string& key) -> std::string {
      const auto found = header_.find(key);
      if (found != header_.end() && !found->second.empty()) return found->second;
      diagnostics_.Add(Error(fmt::format("a profile needs the header line '# {}: ...'", key),
                             {file_name_, 0, 0}));
      return "";
    };
    profile_.gpu = need("gpu");
    const std::string provenance = need("provenance");
    profile_.source = fmt::format("{}; {}; {}", provenance, need("method"), need("date"));
    if (!seen_columns_) {
      diagnostics_.Add(Error("a profile needs a column line like 'kernel,dtype,m,n,k,time'",
                             {file_name_, 0, 0}));
    }
    SortRows();
  }

  void SortRows();

  const std::string& text_;
  const std::string file_name_;
  std::string line_;
  int line_number_ = 0;
  bool seen_columns_ = false, columns_ok_ = false;
  std::vector<std::string> columns_;
  std::map<std::string, std::string> header_;
  Profile profile_;
  Diagnostics diagnostics_;
};

void Parser::SortRows() {
  std::vector<ProfileRow>& rows = profile_.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return KeyOf(a.kernel) < KeyOf(b.kernel);
  });
  for (size_t i = 1; i < rows.size(); ++i) {
    if (KeyOf(rows[i - 1].kernel) != KeyOf(rows[i].kernel)) continue;
    diagnostics_.Add(
        Error(fmt::format("the same kernel and extents as in line {}", rows[i - 1].line),
              {file_name_, rows[i].line, 1}));
  }
}

}  // namespace

Result<Profile> ParseProfile(const std::string& text, const std::string& file_name) {
  return Parser(text, file_name).Parse();
}

Result<Profile> LoadProfile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseProfile(text, path);
}

}  // namespace drydock
