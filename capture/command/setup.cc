#include "capture/command/setup.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "capture/standins/command.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

// The wheels, unpacked, with the observers that are compiled for them.
constexpr uintmax_t kNeededBytes = uintmax_t{3} << 30;

std::string FolderOf(const std::string& cache) { return cache + "/python"; }

// Runs a program that shows its own progress and errors.
Status RunShown(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ);
  if (failed != 0)
    return Error(fmt::format("cannot start {}: {}", words.front(), strerror(failed)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return OkStatus();
  return Error("the environment was not made; what has been fetched is kept");
}

Status CheckSpace(const std::string& cache) {
  std::error_code failed;
  const fs::space_info space = fs::space(cache, failed);
  if (failed || space.available >= kNeededBytes) return OkStatus();
  return Error(fmt::format("has {:.1f} GB free; the environment needs {:.1f} GB",
                           static_cast<double>(space.available) / 1e9,
                           static_cast<double>(kNeededBytes) / 1e9),
               {cache, 0, 0});
}

// The interpreter for which the list has wheels, else any other.
Result<std::string> FindInterpreter() {
  for (const char* name : {"python3.11", "python3"}) {
    if (RunCommand({name, "-c", ""}).ok()) return std::string(name);
  }
  return Error("there is no python3 to make the environment with (package python3)");
}

}  // namespace

std::string SetUpPython(const Parts& parts, const std::string& cache) {
  const std::string python = FolderOf(cache) + "/bin/python";
  const Result<std::string> made = ReadFile(FolderOf(cache) + "/wheels.txt");
  const Result<std::string> wanted = ReadFile(parts.wheels + "/wheels.txt");
  if (!made.ok() || !wanted.ok() || *made != *wanted || !FileExists(python)) return "";
  return python;
}

Result<std::string> SetUp(const Parts& parts, const std::string& cache, bool quiet) {
  if (const std::string ready = SetUpPython(parts, cache); !ready.empty()) return ready;
  RETURN_IF_ERROR(MakeDirectories(cache));
  RETURN_IF_ERROR(CheckSpace(cache));
  ASSIGN_OR_RETURN(const std::string interpreter, FindInterpreter());
  const std::string script = parts.wheels + "/fetch_wheels.py";
  const std::string list = parts.wheels + "/wheels.txt";
  const std::string downloads = cache + "/downloads";
  std::vector<std::string> fetch = {interpreter, script, "fetch", list, downloads};
  if (quiet) fetch.push_back("--quiet");
  RETURN_IF_ERROR(RunShown(fetch));
  ASSIGN_OR_RETURN(StagedDirectory staged, StagedDirectory::Create(FolderOf(cache)));
  const Result<std::string> made =
      RunCommand({interpreter, "-m", "venv", "--without-pip", staged.path()});
  if (!made.ok()) return made.error();
  ASSIGN_OR_RETURN(
      const std::string packages,
      RunCommand({staged.path() + "/bin/python", "-c",
                  "import sysconfig; print(sysconfig.get_paths()['platlib'], end='')"}));
  RETURN_IF_ERROR(RunShown({interpreter, script, "unpack", list, downloads, packages}));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(list));
  RETURN_IF_ERROR(staged.Write("wheels.txt", text));
  RETURN_IF_ERROR(staged.Commit());
  std::error_code ignored;
  fs::remove_all(downloads, ignored);
  return FolderOf(cache) + "/bin/python";
}

}  // namespace drydock::capture
