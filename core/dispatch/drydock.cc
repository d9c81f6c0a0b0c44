// drydock NAME ARGUMENTS: becomes the tool of this name, which lies beside it: drydock-NAME or
// NAME.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/process.h"
#include "core/base/spelling.h"
#include "core/base/version.h"

namespace drydock {
namespace {

constexpr int kExitBadInput = 1, kExitUsage = 2;

struct Tool {
  const char* name;
  const char* summary;
};
constexpr Tool kTools[] = {
    {"capture", "runs an unmodified training program without a GPU: program -> workload"},
    {"workload-gen", "model and cluster -> workload; commands for existing workloads"},
    {"nccl-record", "a program written against nccl.h -> workload"},
    {"simccl", "calls -> the steps of NCCL"},
    {"compute-sim", "submodules -> times"},
    {"exec-engine", "the replay: workload, steps and times -> timeline"},
    {"report", "timeline -> numbers, trace, page"},
    {"collective-perf", "single calls, as nccl-tests prints them"},
    {"gpu-profiler", "measures kernels on a machine with a GPU (built where nvcc is)"},
};
constexpr const char* kPrefix = "drydock-";

// The executable of a tool; "" if there is none.
std::string Find(const std::string& folder, const std::string& name) {
  if (name.find('/') != std::string::npos) return "";
  const bool known = std::any_of(std::begin(kTools), std::end(kTools),
                                 [&](const Tool& tool) { return name == tool.name; });
  const std::string prefixed = folder + "/" + kPrefix + name;
  if (::access(prefixed.c_str(), X_OK) == 0) return prefixed;
  const std::string plain = folder + "/" + name;
  return known && ::access(plain.c_str(), X_OK) == 0 ? plain : "";
}

// The names of executables drydock-NAME that the table does not have.
std::vector<std::string> Others(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(kPrefix) || ::access(entry.path().c_str(), X_OK) != 0) continue;
    const std::string name = file.substr(strlen(kPrefix));
    if (std::none_of(std::begin(kTools), std::end(kTools),
                     [&](const Tool& tool) { return name == tool.name; })) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Help(const std::string& folder) {
  std::string text =
      "Predicts the iteration time of a training run on a cluster that need not exist.\n"
      "Usage: drydock COMMAND [arguments]\n\n"
      "Each command is a program beside this one; 'drydock COMMAND --help' explains it.\n"
      "run_pipeline.sh runs the commands of a prediction in order.\n\nCommands:\n";
  for (const Tool& tool : kTools) text += fmt::format("  {:<17}{}\n", tool.name, tool.summary);
  for (const std::string& name : Others(folder)) text += fmt::format("  {}\n", name);
  return text +
         "\nOptions:\n  -h,--help        Print this help message and exit\n"
         "  --version        Display program version information and exit\n\n"
         "Exit status:\n  that of the command; 2 if there is no such command\n\n"
         "Example:\n  drydock capture --setup\n";
}

int Fail(const std::string& message) {
  fputs(fmt::format("drydock: error: {}\ndrydock: see drydock --help\n", message).c_str(), stderr);
  return kExitUsage;
}

int Run(int argc, char** argv) {
  const std::string folder = FolderOfExecutable();
  const std::string name = argc < 2 ? "--help" : argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    fputs(Help(folder).c_str(), stdout);
    return fflush(stdout) == 0 ? 0 : kExitBadInput;
  }
  if (name == "--version") {
    fputs(fmt::format("drydock {}\n", kDrydockVersion).c_str(), stdout);
    return fflush(stdout) == 0 ? 0 : kExitBadInput;
  }
  const std::string program = Find(folder, name);
  if (!program.empty()) {
    argv[1] = const_cast<char*>(program.c_str());
    ::execv(program.c_str(), argv + 1);
    return Fail(fmt::format("cannot start {}: {}", program, strerror(errno)));
  }
  std::vector<std::string> names = Others(folder);
  for (const Tool& tool : kTools) {
    if (name == tool.name) {
      return Fail(fmt::format("{} is not built here: cmake --build build/release --target {}", name,
                              name == "capture" ? "drydock-capture" : name));
    }
    names.push_back(tool.name);
  }
  return Fail(fmt::format("there is no command '{}'{}", name, DidYouMean(name, names)));
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) { return drydock::Run(argc, argv); }
