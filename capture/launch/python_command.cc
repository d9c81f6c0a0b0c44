#include "capture/launch/python_command.h"

#include <cctype>
#include <string_view>

#include "core/base/files.h"

namespace drydock::capture {

PythonCommand ReadPythonCommand(const std::vector<std::string>& words) {
  PythonCommand command;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-") return command;  // standard input
    if (word == "--check-hash-based-pycs") {
      ++i;
      continue;
    }
    if (word.starts_with("--")) return command;  // --version, --help
    if (word[0] != '-') return {PythonCommand::Kind::kFile, word, i + 1};
    // Flags may share a dash: "-um MODULE". Those with a value take the rest of the word, or the
    // next word.
    for (size_t at = 1; at < word.size(); ++at) {
      const char flag = word[at];
      if (flag == 'c' || flag == 'V' || flag == 'h' || flag == '?') return command;
      if (flag == 'm') {
        const std::string rest = word.substr(at + 1);
        if (!rest.empty()) return {PythonCommand::Kind::kModule, rest, i + 1};
        if (i + 1 >= words.size()) return command;
        return {PythonCommand::Kind::kModule, words[i + 1], i + 2};
      }
      if (flag == 'W' || flag == 'X') {
        if (at + 1 == word.size()) ++i;
        break;
      }
    }
  }
  return command;
}

bool IsPython(const std::string& program) {
  const std::string base = BaseName(program);
  std::string_view rest = base;
  for (const std::string_view name : {"python", "pypy"}) {
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    for (const char c : rest) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') return false;
    }
    return true;
  }
  return false;
}

}  // namespace drydock::capture
