#include "workload-gen/import/tree/import_notes.h"

#include <fmt/format.h>

#include "core/base/spelling.h"

namespace drydock {

void ImportNotes::Append(const ImportNotes& other) {
  const auto append = [](const std::vector<std::string>& from, std::vector<std::string>* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(other.ignored, &ignored);
  append(other.unmodeled, &unmodeled);
  append(other.unknown, &unknown);
  append(other.remarks, &remarks);
  assumed.insert(assumed.end(), other.assumed.begin(), other.assumed.end());
}

std::vector<std::string> ImportNotes::Lines(const std::string& file_name) const {
  std::vector<std::string> lines;
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) {
      lines.push_back(fmt::format("{}: {} {}: {}", file_name, names.size(), what, Join(names)));
    }
  };
  list("unknown and ignored", unknown);
  list("not modeled", unmodeled);
  list("ignored, no effect", ignored);
  for (const std::string& remark : remarks) lines.push_back(file_name + ": " + remark);
  return lines;
}

std::string ImportNotes::AssumedLine(const std::string& file_name) const {
  if (assumed.empty()) return "";
  std::vector<std::string> keys;
  for (const AssumedKey& each : assumed) keys.push_back(each.key + "=" + each.value);
  return fmt::format("{}: {} assumed; --set replaces each: {}", file_name, keys.size(), Join(keys));
}

}  // namespace drydock
