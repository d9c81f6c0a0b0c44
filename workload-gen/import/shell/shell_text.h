// Text of a shell script: characters with their places, some of which are not known.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

struct ShellChar {
  char c = 0;
  bool wide = false;             // unknown text that may be several words, or none
  int16_t file = 0;              // index of the file
  int32_t line = 0, column = 0;  // 1-based
  int32_t unresolved = -1;       // index of a ShellUnknown; then c is 0
};
using ShellText = std::vector<ShellChar>;

// Returns the known characters.
std::string PlainText(const ShellText& text);
bool IsResolved(const ShellText& text);
// True if the text may be several words or none: the number of words around it is not known.
bool IsWide(const ShellText& text);
// The same characters, known and unknown, wherever they come from.
bool SameText(const ShellText& a, const ShellText& b);
// Returns `text` with the place of each character. Columns count characters, not bytes.
ShellText WithPlaces(const std::string& text, int16_t file = 0);
// Returns `text` with all characters at the place of `at`.
ShellText TextAt(const std::string& text, const ShellChar& at);

bool IsNameStart(char c);
bool IsNameCharacter(char c);
bool IsShellName(const std::string& text);
// True for blanks, line breaks, operators and the end ('\0'), which end a word.
bool EndsShellWord(char c);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_TEXT_H_
