#include "core/base/scan.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/base/check.h"

namespace drydock {

bool ScanNumbers(std::string_view text, std::initializer_list<std::string_view> literals,
                 std::initializer_list<int*> numbers) {
  CHECK(literals.size() == numbers.size());
  std::vector<int> found;
  for (const std::string_view literal : literals) {
    if (!text.starts_with(literal)) return false;
    text.remove_prefix(literal.size());
    size_t digits = 0;
    int value = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      if (digits == 9) return false;
      value = value * 10 + (text[digits++] - '0');
    }
    if (digits == 0) return false;
    text.remove_prefix(digits);
    found.push_back(value);
  }
  if (!text.empty()) return false;
  for (size_t i = 0; i < found.size(); ++i) *numbers.begin()[i] = found[i];
  return true;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace drydock
