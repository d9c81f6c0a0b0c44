// Prints the arguments that the reader of launch scripts finds, for launch_script_test.py.
//   launch_words SCRIPT [NAME=VALUE...]
// A line for each argument: "=TEXT", or "?MESSAGE" if a part of it is not known; line breaks in a
// text are "\n", backslashes "\\". A script that is refused: its message on standard error, exit 1.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string>

#include "core/base/files.h"
#include "workload-gen/import/shell/launch_script.h"

int main(int count, char** values) {
  using drydock::Result;
  if (count < 2) return 2;
  std::map<std::string, std::string> variables;
  for (int i = 2; i < count; ++i) {
    const std::string word = values[i];
    variables[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  const Result<std::string> text = drydock::ReadFile(values[1]);
  if (!text.ok()) return 2;
  const Result<drydock::LaunchLine> line = drydock::ReadLaunchScript(*text, values[1], variables);
  if (!line.ok()) {
    fmt::print(stderr, "{}\n", line.error().ToString());
    return 1;
  }
  for (const drydock::ScriptWord& word : line->arguments) {
    if (!word.unresolved.empty()) {
      fmt::print("?{}:{}:{}: {}\n", word.location.file, word.location.line, word.location.column,
                 word.Unknown());
      continue;
    }
    fmt::print("=");
    for (const char c : word.text) {
      if (c == '\n')
        fmt::print("\\n");
      else
        fmt::print("{}{}", c == '\\' ? "\\" : "", c);
    }
    fmt::print("\n");
  }
  return 0;
}
