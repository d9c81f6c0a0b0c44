#include "study/table/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/result.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

std::string CsvField(std::string text) {
  text = Printable(text);
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (!text.empty() && std::string("=+-@").find(text.front()) != std::string::npos) {
    const bool number = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
    if (!number) text.insert(0, "'");
  }
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (const std::string& field : fields) quoted.push_back(CsvField(field));
  return Join(quoted, ",") + "\n";
}

std::string AlignedText(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace drydock
