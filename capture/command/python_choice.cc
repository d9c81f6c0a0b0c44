#include "capture/command/python_choice.h"

#include <fmt/format.h>

#include <filesystem>

#include "capture/command/setup.h"
#include "core/base/process.h"

namespace drydock::capture {

Result<std::string> PathOfProgram(const std::string& program, const Variables& environment) {
  const std::string file = FindProgram(program, ValueOf(environment, "PATH"));
  if (file.empty()) return Error("this machine has no such program", {program, 0, 0});
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(file, failed);
  return failed ? file : whole.string();
}

Result<std::string> ChoosePython(const std::string& given, const Launch& launch,
                                 const std::string& cache, const Tell& tell) {
  if (!given.empty()) {
    ASSIGN_OR_RETURN(const std::string python, PathOfProgram(given, launch.environment));
    RETURN_IF_ERROR(CheckPython(python));
    return python;
  }
  const std::string& program = launch.command.front();
  const std::string path = ValueOf(launch.environment, "PATH");
  std::string own = FindProgram(program, path);
  if (own.empty() && program == "python") own = FindProgram("python3", path);
  std::string why = fmt::format("this machine has no '{}'", program);
  if (!own.empty()) {
    const Status usable = CheckPython(own);
    if (usable.ok()) return own;
    why = usable.error().message();
    why = fmt::format("{} {}", own, why);
  }
  const std::string made = SetUpPython(cache);
  if (made.empty()) {
    return Error(
        fmt::format("{}\n  'drydock capture --setup' makes an environment with PyTorch (0.9 GB "
                    "to fetch); --python PATH takes one of yours",
                    why));
  }
  tell(fmt::format("{}; the program runs with {}", why, made));
  return made;
}

}  // namespace drydock::capture
