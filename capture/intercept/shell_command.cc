#include "capture/intercept/shell_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "capture/intercept/stage.h"
#include "capture/launch/words.h"
#include "core/base/files.h"
#include "core/base/process.h"

namespace drydock::capture {
namespace {

bool IsFile(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed);
}

// Index of the script among the words of a shell; the number of words if it reads none.
size_t ScriptOfShell(const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return i + 1;
    if (word == "--rcfile" || word == "--init-file") ++i;
    if (word.starts_with("--")) continue;
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) return i;
    if (word.find_first_of("cs") != std::string::npos) return words.size();
    if (word.find_first_of("oO") != std::string::npos) ++i;  // "-eo pipefail"
  }
  return words.size();
}

Status CheckStarts(const std::string& program) {
  const char* path = std::getenv("PATH");
  if (!FindProgram(program, path == nullptr ? "" : path).empty()) return OkStatus();
  if (!IsFile(program)) {
    const bool is_path = program.find('/') != std::string::npos;
    return Error(is_path ? "there is no such program" : "this machine has no such program",
                 {program, 0, 0});
  }
  return Error(
      fmt::format("this file is no program that can be executed; write: bash {}", Quoted(program)),
      {program, 0, 0});
}

}  // namespace

Result<ShellCommand> ReadShellCommand(const std::vector<std::string>& words) {
  static constexpr const char* kShells[] = {"bash", "sh", "dash", "zsh", "ksh"};
  ShellCommand command{words, ""};
  const std::string name = BaseName(words.front());
  if (IsStandIn(name)) {
    command.words.front() = name;  // found in front of PATH
    return command;
  }
  RETURN_IF_ERROR(CheckStarts(words.front()));
  if (std::find(std::begin(kShells), std::end(kShells), name) == std::end(kShells)) {
    command.script = words.front().find('/') == std::string::npos ? "" : words.front();
    return command;
  }
  const size_t at = ScriptOfShell(words);
  if (at >= words.size()) return command;
  if (!FileExists(words[at])) return Error("there is no such script", {words[at], 0, 0});
  command.script = words[at];
  return command;
}

}  // namespace drydock::capture
