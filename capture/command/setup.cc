#include "capture/command/setup.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "core/base/files.h"
#include "core/base/process.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

// The list of wheels of which an environment has been made; beside its bin/.
constexpr const char* kListName = "wheels.txt";

std::string FolderOf(const std::string& cache) { return cache + "/python"; }

// The lines of a list, without its comments.
std::vector<std::string> WheelsIn(const std::string& list) {
  std::vector<std::string> wheels;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) wheels.push_back(line);
  }
  return wheels;
}

// The interpreter for which the list has wheels, else any other.
Result<std::string> FindInterpreter() {
  for (const char* name : {"python3.11", "python3"}) {
    if (RunCommand({name, "-c", ""}).ok()) return std::string(name);
  }
  return Error("there is no python3 to make the environment with (package python3)");
}

// The scripts of an environment name the folder in which it was made.
Status NameFolder(const std::string& made_in, const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(made_in + "/bin", failed)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    for (size_t at = text.find(made_in); at != std::string::npos; at = text.find(made_in, at)) {
      text.replace(at, made_in.size(), folder);
    }
    RETURN_IF_ERROR(WriteFileAtomically(path, text));
  }
  return failed ? Error("cannot be read: " + failed.message(), {made_in + "/bin", 0, 0})
                : OkStatus();
}

// An environment of this interpreter with the packages of a folder, which it takes.
Status MakeEnvironment(const std::string& interpreter, const std::string& list,
                       const std::string& packages, const std::string& folder) {
  ASSIGN_OR_RETURN(StagedDirectory staged, StagedDirectory::Create(folder));
  const Result<std::string> made = RunCommand(
      {interpreter, "-m", "venv", "--without-pip", "--prompt", "drydock", staged.path()});
  if (!made.ok()) return made.error();
  ASSIGN_OR_RETURN(
      const std::string site,
      RunCommand({staged.path() + "/bin/python", "-c",
                  "import sysconfig; print(sysconfig.get_paths()['platlib'], end='')"}));
  RETURN_IF_ERROR(NameFolder(staged.path(), folder));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(list));
  RETURN_IF_ERROR(staged.Write(kListName, text));
  if (std::rename(packages.c_str(), site.c_str()) != 0) {
    return Error(fmt::format("cannot be moved to {}: {}", site, strerror(errno)), {packages, 0, 0});
  }
  return staged.Commit();
}

// The environment that is there, if any. Errors: there is one that does not work.
Result<std::string> Present(const std::string& cache, const std::string& list, const Tell& tell) {
  const std::string folder = FolderOf(cache);
  std::string python = SetUpPython(cache);
  if (python.empty()) {
    std::error_code ignored;
    if (!fs::exists(folder, ignored)) return python;
    return Error(
        "this environment has no Python any more; remove the folder, and run --setup again",
        {folder, 0, 0});
  }
  const Result<std::string> made = ReadFile(folder + "/" + kListName), wanted = ReadFile(list);
  if (tell && made.ok() && wanted.ok() && WheelsIn(*made) != WheelsIn(*wanted)) {
    tell(
        fmt::format("{} was made by another version of Drydock, with other packages, and stays as "
                    "it is; --cache DIR makes another one",
                    folder));
  }
  return python;
}

}  // namespace

std::string SetUpPython(const std::string& cache) {
  const std::string python = FolderOf(cache) + "/bin/python";
  return FileExists(python) ? python : "";
}

Result<std::string> SetUp(const Parts& parts, const std::string& cache, bool quiet,
                          const Tell& tell) {
  const std::string list = parts.wheels + "/wheels.txt";
  RETURN_IF_ERROR(MakeDirectories(cache));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(FolderOf(cache), tell));
  ASSIGN_OR_RETURN(const std::string ready, Present(cache, list, tell));
  if (!ready.empty()) return ready;
  ASSIGN_OR_RETURN(const std::string interpreter, FindInterpreter());
  const std::string packages = cache + "/packages";
  std::vector<std::string> fetch = {interpreter, parts.wheels + "/fetch.py", packages,
                                    "--downloads", cache + "/downloads"};
  if (quiet) fetch.push_back("--quiet");
  ASSIGN_OR_RETURN(const int status, RunShown(fetch));
  if (status != 0) {
    return Error(
        "the environment was not made; what has been fetched is kept for the next --setup");
  }
  RETURN_IF_ERROR(MakeEnvironment(interpreter, list, packages, FolderOf(cache)));
  return FolderOf(cache) + "/bin/python";
}

}  // namespace drydock::capture
