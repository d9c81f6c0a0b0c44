#include "capture/log/fields.h"

#include <array>
#include <sstream>

namespace drydock::capture {
namespace {

std::vector<Field> Split(std::string_view text) {
  std::vector<Field> fields;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    Field& field = fields.emplace_back();
    field.is_name = word.back() == '\'';
    field.name = field.is_name ? word.substr(0, word.size() - 1) : word;
  }
  return fields;
}

}  // namespace

const std::vector<Field>& FieldsOfKind(EntryKind kind) {
  static const std::array<std::vector<Field>, kEntryKinds> kFields = [] {
    std::array<std::vector<Field>, kEntryKinds> fields;
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = Split(kEntryFields[i].fields);
    return fields;
  }();
  return kFields[static_cast<size_t>(kind)];
}

}  // namespace drydock::capture
