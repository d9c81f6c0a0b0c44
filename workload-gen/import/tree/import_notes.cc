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

}  // namespace drydock
