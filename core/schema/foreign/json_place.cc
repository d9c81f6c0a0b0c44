#include "core/schema/foreign/json_place.h"

#include <algorithm>

namespace drydock {

Location JsonPlace(const std::string& text, const std::string& path, size_t byte) {
  const size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
  const size_t begin = before == std::string::npos || line == 0 ? 0 : before + 1;
  return {path, static_cast<int>(line) + 1, static_cast<int>(at - begin) + 1};
}

}  // namespace drydock
