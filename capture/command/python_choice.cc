#include "capture/command/python_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "capture/command/setup.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

// Looks a program up in the PATH of the launch; "" if it has none of this name.
std::string InPath(const std::string& program, const Variables& environment) {
  if (program.find('/') != std::string::npos) {
    return ::access(program.c_str(), X_OK) == 0 ? program : "";
  }
  std::istringstream folders(ValueOf(environment, "PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + program;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace

Result<std::string> FindProgram(const std::string& program, const Variables& environment) {
  const std::string file = InPath(program, environment);
  if (file.empty()) return Error("is no program", {program, 0, 0});
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(file, failed);
  return failed ? file : whole.string();
}

Result<std::string> ChoosePython(const std::string& given, const Launch& launch, const Parts& parts,
                                 const std::string& cache) {
  if (!given.empty()) {
    ASSIGN_OR_RETURN(const std::string python, FindProgram(given, launch.environment));
    RETURN_IF_ERROR(CheckPython(python));
    return python;
  }
  const std::string& program = launch.command.front();
  std::string own = InPath(program, launch.environment);
  if (own.empty() && program == "python") own = InPath("python3", launch.environment);
  std::string why = fmt::format("this machine has no '{}'", program);
  if (!own.empty()) {
    const Status usable = CheckPython(own);
    if (usable.ok()) return own;
    why = usable.error().ToString();
  }
  const std::string made = SetUpPython(parts, cache);
  if (!made.empty()) return made;
  return Error(
      fmt::format("{}\n  'drydock capture --setup' makes an environment with PyTorch (0.9 GB "
                  "to fetch); --python PATH takes one of yours",
                  why));
}

}  // namespace drydock::capture
