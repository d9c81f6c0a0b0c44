#include "workload-gen/import/shell/shell_text.h"

#include <algorithm>
#include <cstring>

namespace drydock {

std::string PlainText(const ShellText& text) {
  std::string out;
  for (const ShellChar& c : text) {
    if (c.unresolved < 0) out += c.c;
  }
  return out;
}

bool IsResolved(const ShellText& text) {
  return std::all_of(text.begin(), text.end(), [](const ShellChar& c) { return c.unresolved < 0; });
}

bool IsWide(const ShellText& text) {
  return std::any_of(text.begin(), text.end(), [](const ShellChar& c) { return c.wide; });
}

bool SameText(const ShellText& a, const ShellText& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ShellChar& x, const ShellChar& y) {
                      return x.c == y.c && x.unresolved == y.unresolved && x.wide == y.wide;
                    });
}

ShellText WithPlaces(const std::string& text, int16_t file) {
  ShellText out;
  int32_t line = 1, column = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues) ++column;
    if (c != '\r') out.push_back({c, false, file, line, column, -1});
    if (c != '\n') continue;
    ++line;
    column = 0;
  }
  return out;
}

ShellText TextAt(const std::string& text, const ShellChar& at) {
  ShellText out;
  for (const char c : text) out.push_back({c, false, at.file, at.line, at.column, -1});
  return out;
}

bool IsNameStart(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsNameCharacter(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

bool IsShellName(const std::string& text) {
  return !text.empty() && IsNameStart(text[0]) &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool EndsShellWord(char c) { return c == '\0' || std::strchr(" \t\n;&|()<>", c) != nullptr; }

}  // namespace drydock
