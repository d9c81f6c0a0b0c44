#include "workload-gen/import/shell/shell_pattern.h"

#include <cstring>

namespace drydock {
namespace {

bool IsSpecial(const ShellPatternChar& c, char what) { return !c.quoted && c.c == what; }

// Returns the position after the set [...] at `at`, or 0 if there is no set.
size_t EndOfSet(const ShellPattern& pattern, size_t at) {
  size_t i = at + 1;
  if (i < pattern.size() && (IsSpecial(pattern[i], '!') || IsSpecial(pattern[i], '^'))) ++i;
  for (bool first = true; i < pattern.size(); ++i, first = false) {
    if (!first && IsSpecial(pattern[i], ']')) return i + 1;
  }
  return 0;
}

bool InSet(const ShellPattern& pattern, size_t at, size_t end, char c) {
  size_t i = at + 1;
  const bool inverted = IsSpecial(pattern[i], '!') || IsSpecial(pattern[i], '^');
  if (inverted) ++i;
  bool found = false;
  for (; i + 1 < end; ++i) {
    if (i + 3 < end && IsSpecial(pattern[i + 1], '-')) {
      found = found || (pattern[i].c <= c && c <= pattern[i + 2].c);
      i += 2;
    } else {
      found = found || pattern[i].c == c;
    }
  }
  return found != inverted;
}

}  // namespace

bool IsPlainPattern(const ShellPattern& pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].quoted) continue;
    const bool open = i + 1 < pattern.size() && IsSpecial(pattern[i + 1], '(');
    if (open && std::strchr("?*+@!", pattern[i].c) != nullptr) return false;
    if (pattern[i].c == '\\') return false;
    if (pattern[i].c != '[') {
      if (pattern[i].c == '?' || (pattern[i].c & 0x80) != 0) {
        for (const ShellPatternChar& c : pattern) {
          if ((c.c & 0x80) != 0) return false;
        }
      }
      continue;
    }
    const size_t end = EndOfSet(pattern, i);
    for (size_t k = i + 1; k < end; ++k) {
      if (IsSpecial(pattern[k], '[') || (pattern[k].c & 0x80) != 0) return false;
    }
  }
  return true;
}

bool HasWildcard(const ShellPattern& pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (IsSpecial(pattern[i], '*') || IsSpecial(pattern[i], '?')) return true;
    if (IsSpecial(pattern[i], '[') && EndOfSet(pattern, i) > 0) return true;
  }
  return false;
}

bool Matches(const ShellPattern& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = pattern.size() + 1, star_text = 0;
  while (t < text.size()) {
    size_t next = 0;
    if (p < pattern.size() && IsSpecial(pattern[p], '*')) {
      star = p++;
      star_text = t;
      continue;
    }
    if (p < pattern.size()) {
      const size_t end = IsSpecial(pattern[p], '[') ? EndOfSet(pattern, p) : 0;
      if (end > 0) {
        if (InSet(pattern, p, end, text[t])) next = end;
      } else if (IsSpecial(pattern[p], '?') || pattern[p].c == text[t]) {
        next = p + 1;
      }
    }
    if (next > 0) {
      p = next;
      ++t;
    } else if (star <= pattern.size()) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && IsSpecial(pattern[p], '*')) ++p;
  return p == pattern.size();
}

}  // namespace drydock
