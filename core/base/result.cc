#include "core/base/result.h"

#include <fmt/format.h>

namespace drydock {

std::string Diagnostic::ToString() const {
  if (!location.known()) return fmt::format("error: {}", message);
  std::string out = location.file;
  if (location.line > 0) out += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column > 0) out += fmt::format(":{}", location.column);
  out += fmt::format(": error: {}", message);
  if (!source_line.empty() && location.column > 0) {
    out += fmt::format("\n  {}\n  {:>{}}", source_line, "^", location.column);
  }
  return out;
}

std::string Error::ToString() const {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (!out.empty()) out += '\n';
    out += diagnostic.ToString();
  }
  return out;
}

}  // namespace drydock
