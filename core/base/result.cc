#include "core/base/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace drydock {
namespace {

constexpr size_t kWindow = 100;  // characters shown of a long line
constexpr size_t kBefore = 60;   // of these, before the caret

// Returns the UTF-8 characters of `text`.
std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    characters.push_back(text.substr(begin, end - begin));
  }
  return characters;
}

// Returns the line, or the part around the column of a long line, and a caret under the column.
// Tabs stay tabs in both lines, so the caret is right for every tab width.
std::string Excerpt(std::string_view line, int column) {
  const std::vector<std::string_view> characters = Characters(line);
  const auto caret = static_cast<size_t>(column - 1);
  const bool whole = characters.size() <= kWindow;
  const size_t begin = whole || caret < kBefore ? 0 : std::min(caret, characters.size()) - kBefore;
  const size_t end = whole ? characters.size() : std::min(begin + kWindow, characters.size());
  std::string text = begin > 0 ? "..." : "";
  std::string below(text.size(), ' ');
  for (size_t i = begin; i < std::max(end, caret); ++i) {
    if (i < end) text += characters[i];
    if (i < caret) below += i < end && characters[i] == "\t" ? '\t' : ' ';
  }
  if (end < characters.size()) text += "...";
  return fmt::format("\n  {}\n  {}^", Printable(text), below);
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F in UTF-8; some terminals obey them as ESC and a letter.
    const bool high = byte == 0xC2 && i + 1 < text.size() &&
                      static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                      static_cast<unsigned char>(text[i + 1]) < 0xA0;
    const bool low = (byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7F;
    out += high || low ? '?' : text[i];
    if (high) ++i;
  }
  return out;
}

std::string Diagnostic::ToString() const {
  if (!location.known()) return fmt::format("error: {}", Printable(message));
  std::string out = Printable(location.file);
  if (location.line > 0) out += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column > 0) out += fmt::format(":{}", location.column);
  out += fmt::format(": error: {}", Printable(message));
  if (!source_line.empty() && location.column > 0) out += Excerpt(source_line, location.column);
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
