#include "drydock/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/base/spelling.h"
#include "drydock/help_pages.h"
#include "drydock/machine/doctor.h"
#include "drydock/run/pipeline.h"
#include "drydock/shipped/shipped_files.h"
#include "drydock/shipped/shipped_table.h"

namespace drydock {
namespace {

using Words = std::vector<std::string>;

constexpr int kExitBadInput = 1, kExitUsage = 2;
constexpr const char* kPrefix = "drydock-";

int Fail(const Error& error) {
  Say(error.ToString() + "\n");
  return kExitBadInput;
}

int PrintTable(const char* command, const Words& arguments, Result<std::string> (*table)()) {
  if (!arguments.empty()) {
    return WrongUsage(fmt::format("drydock {}", command),
                      fmt::format("it takes no argument, not '{}'", arguments[0]));
  }
  const Result<std::string> text = table();
  return text.ok() ? Print(*text) : Fail(text.error());
}

int Run(const Words& arguments) { return RunPipeline({"drydock run", "drydock run"}, arguments); }

bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// A run directory is proven, a model and a cluster are validated.
int Check(const Words& arguments) {
  std::error_code failed;
  if (arguments.empty() || IsOption(arguments[0])) {
    return WrongUsage("drydock check",
                      "a run directory, or a model and a cluster are needed first");
  }
  if (std::filesystem::is_directory(arguments[0], failed) &&
      ShippedFile(ShippedKind::kModel, arguments[0]).empty()) {
    Words words = {"check"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Become("workload-gen", words);
  }
  if (arguments.size() < 2 || IsOption(arguments[1])) {
    return WrongUsage("drydock check",
                      fmt::format("a cluster is needed after the model '{}'", arguments[0]));
  }
  Words words = arguments;
  words[0] = FileMeant(ShippedKind::kModel, words[0]);
  words[1] = FileMeant(ShippedKind::kCluster, words[1]);
  words.push_back("--check");
  return Become("workload-gen", words);
}

// The first run is the base.
int Compare(const Words& arguments) {
  if (arguments.size() < 2 || IsOption(arguments[0]) || IsOption(arguments[1])) {
    return WrongUsage("drydock compare", "two run directories are needed first");
  }
  Words words = {arguments[1], "--compare", arguments[0]};
  words.insert(words.end(), arguments.begin() + 2, arguments.end());
  return Become("report", words);
}

int ShowGpus(const Words& arguments) { return PrintTable("gpus", arguments, GpuTable); }
int ShowClusters(const Words& arguments) { return PrintTable("clusters", arguments, ClusterTable); }
int ShowModels(const Words& arguments) { return PrintTable("models", arguments, ModelTable); }

int Doctor(const Words& arguments) {
  if (!arguments.empty()) {
    return WrongUsage("drydock doctor",
                      fmt::format("it takes no argument, not '{}'", arguments[0]));
  }
  const std::vector<Finding> findings =
      Examine(FolderOfExecutable(), ValueOf(OwnEnvironment(), "PATH"), WorkingFolder());
  const int printed = Print(ToText(findings));
  return IsComplete(findings) ? printed : kExitBadInput;
}

// The executable of these is drydock-NAME.
bool HasPrefix(const std::string& tool) {
  return tool == "capture" || tool == "sweep" || tool == "search" || tool == "goodput";
}

bool IsKnown(const std::string& tool) {
  return std::any_of(Tools().begin(), Tools().end(),
                     [&](const Tool& known) { return tool == known.name; });
}

}  // namespace

const std::vector<OwnCommand>& OwnCommands() {
  static const std::vector<OwnCommand> commands = {
      {"run", "MODEL CLUSTER [options]", "predicts the iteration time of a model on a cluster", "",
       "", Run},
      {"check", "RUN | MODEL CLUSTER [options]",
       "proves that a workload can run, or validates a model and a cluster",
       "Of a run directory: the options of 'workload-gen check'. Of a model and a cluster: those "
       "of\n"
       "'workload-gen'; nothing is written.\n",
       "drydock check gpt-22b dgx-a100-80g-1", Check},
      {"compare", "A B [options]", "sets run directory B against run directory A, the base",
       "The comparison is added to the files of B. The options are those of 'report'.\n",
       "drydock compare runs/today runs/tomorrow", Compare},
      {"models", "", "the models that ship, as a table", "", "drydock models", ShowModels},
      {"gpus", "", "the GPUs that ship, as a table", "", "drydock gpus", ShowGpus},
      {"clusters", "", "the clusters that ship, as a table", "", "drydock clusters", ShowClusters},
      {"doctor", "", "says what this machine lacks",
       "'MISSING' keeps 'drydock run' from working, and the exit status is 1. 'lacks' keeps only "
       "the\n"
       "named commands from working.\n",
       "drydock doctor", Doctor},
      {"help", "[TOPIC]",
       "opens the page of a command, or of the reference and the other documents",
       "Without TOPIC, lists the topics. On a terminal the page opens in a pager.\n",
       "drydock help cluster-file", ShowHelp},
  };
  return commands;
}

const std::vector<Alias>& Aliases() {
  static const std::vector<Alias> aliases = {
      {"collectives", "collective-perf", "", "single collectives, as nccl-tests prints them"},
      {"explain", "simccl", "explain", "what NCCL picks for a call, and why"},
      {"what-if", "exec-engine", "what-if", "replays a run with one input at a time made faster"},
      {"import", "workload-gen", "import", "a workload of another tool -> run directory"},
      {"record", "nccl-record", "", "a program written against nccl.h -> run directory"},
      {"profile", "gpu-profiler", "", "measures kernels on a machine with a GPU"},
  };
  return aliases;
}

const std::vector<Tool>& Tools() {
  static const std::vector<Tool> tools = {
      {"sweep", "many predictions side by side: every point of a product of values"},
      {"search", "the layouts that train a model fastest on a cluster"},
      {"goodput", "what failures leave of some days of training"},
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
  return tools;
}

std::string HelpOf(const OwnCommand& command) {
  const std::string usage = *command.usage == 0 ? "" : std::string(" ") + command.usage;
  return fmt::format(
      "drydock {0}: {2}\n\nUsage:\n  drydock {0}{1}\n\n{3}{4}Options:\n"
      "  -h, --help               this text\n\n"
      "Exit status:\n  0 complete answer, 1 bad input, 2 wrong usage, 3 internal error, 130 "
      "interrupted\n\nExample:\n  {5}\n",
      command.name, usage, command.summary, command.details, *command.details == 0 ? "" : "\n",
      command.example);
}

std::string ExecutableOf(const std::string& tool) {
  if (tool.empty() || tool.find('/') != std::string::npos) return "";
  const std::string folder = FolderOfExecutable();
  const std::string prefixed = folder + "/" + kPrefix + tool;
  if (::access(prefixed.c_str(), X_OK) == 0) return prefixed;
  const std::string plain = folder + "/" + tool;
  return IsKnown(tool) && ::access(plain.c_str(), X_OK) == 0 ? plain : "";
}

std::vector<std::string> OtherTools() {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(FolderOfExecutable(), failed)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(kPrefix) || ::access(entry.path().c_str(), X_OK) != 0) continue;
    const std::string name = file.substr(strlen(kPrefix));
    if (!IsKnown(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

int Become(const std::string& tool, const std::vector<std::string>& arguments) {
  const std::string program = ExecutableOf(tool);
  if (program.empty()) {
    return WrongUsage("drydock", fmt::format("{} is not built here: cmake --build build/release "
                                             "--target {}{}",
                                             tool, HasPrefix(tool) ? kPrefix : "", tool));
  }
  std::vector<std::string> words = WithShippedClusters(arguments);
  words.insert(words.begin(), program);
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  return WrongUsage("drydock", fmt::format("cannot start {}: {}", program, strerror(errno)));
}

int WrongUsage(const std::string& command, const std::string& message) {
  Say(fmt::format("{0}: error: {1}\n{0}: see {0} --help\n", command, message));
  return kExitUsage;
}

int Print(const std::string& text) {
  fputs(text.c_str(), stdout);
  if (fflush(stdout) == 0) return 0;
  Say("drydock: error: cannot write to standard output\n");
  return kExitBadInput;
}

}  // namespace drydock
