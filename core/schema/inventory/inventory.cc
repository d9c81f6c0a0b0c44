#include "core/schema/inventory/inventory.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace drydock {
namespace {

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*') {
    return !name.empty() && name[0] == pattern[0] && Matches(pattern.substr(1), name.substr(1));
  }
  const std::string_view rest = pattern.substr(1);
  if (rest.find('*') == rest.npos) {  // the last star
    return name.size() >= rest.size() && name.substr(name.size() - rest.size()) == rest;
  }
  for (size_t i = 0; i <= name.size(); ++i) {
    if (Matches(rest, name.substr(i))) return true;
  }
  return false;
}

}  // namespace

bool MatchesPattern(const std::string& name, const std::string& pattern) {
  return Matches(pattern, name);
}

bool NameLess(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    size_t i_end = i, j_end = j;
    while (i_end < a.size() && is_digit(a[i_end])) ++i_end;
    while (j_end < b.size() && is_digit(b[j_end])) ++j_end;
    const size_t i_first = std::min(a.find_first_not_of('0', i), i_end);
    const size_t j_first = std::min(b.find_first_not_of('0', j), j_end);
    const std::string x = a.substr(i_first, i_end - i_first),
                      y = b.substr(j_first, j_end - j_first);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    i = i_end, j = j_end;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace drydock
