#include "drydock/run/pipeline.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/base/spelling.h"
#include "core/rundir/run_lock.h"
#include "drydock/run/hostfile.h"
#include "drydock/run/run_options.h"
#include "drydock/shipped/shipped_files.h"

namespace drydock {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int kExitBadInput = 1, kExitUsage = 2, kExitInternal = 3, kExitInterrupted = 130;
constexpr int kNotStarted = 255;  // mpirun's exit status if it cannot start the processes

// "; did you mean 'x'?" for a file of the same folder or a shipped name that is near.
std::string Suggestion(const std::string& path, const Words& shipped) {
  Words names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(DirectoryOf(path), failed)) {
    names.push_back(entry.path().filename().string());
  }
  const std::string near = DidYouMean(BaseName(path), names);
  return near.empty() && path.find('/') == std::string::npos ? DidYouMean(path, shipped) : near;
}

// Returns the error that the stages have for a file that cannot be read.
Status CheckReadable(const std::string& path, const Words& shipped = {}) {
  struct stat status = {};
  int code = 0;
  if (::stat(path.c_str(), &status) != 0) {
    code = errno;
  } else if (S_ISDIR(status.st_mode)) {
    code = EISDIR;
  } else if (::access(path.c_str(), R_OK) != 0) {
    code = errno;
  }
  if (code == 0) return OkStatus();
  const std::string suggestion = code == ENOENT ? Suggestion(path, shipped) : "";
  return Error(fmt::format("cannot read: {}{}", strerror(code), suggestion), {path, 0, 0});
}

// Prints on standard output. Returns the exit status.
int Print(const Caller& caller, const std::string& text) {
  fputs(text.c_str(), stdout);
  if (fflush(stdout) == 0) return 0;
  Say(fmt::format("{}: error: cannot write to standard output\n", caller.name));
  return kExitBadInput;
}

// A word as a shell takes it.
std::string Quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "_@%+=:,./-") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

class Pipeline {
 public:
  Pipeline(Caller caller, RunOptions options)
      : caller_(std::move(caller)), options_(std::move(options)) {}

  // Checks that the named files exist before any step that takes time.
  Status CheckFiles() {
    if (!options_.workload.empty() && !fs::is_directory(options_.workload + "/1-workload")) {
      const bool exists = FileExists(options_.workload);
      return Error(
          "it has no workload (1-workload/)" + (exists ? "" : Suggestion(options_.workload, {})),
          {options_.workload, 0, 0});
    }
    for (const std::string& file : options_.gpu_profiles) RETURN_IF_ERROR(CheckReadable(file));
    if (!options_.megatron_args.empty()) RETURN_IF_ERROR(CheckReadable(options_.megatron_args));
    RETURN_IF_ERROR(CheckHostfile());
    for (size_t i = 0; i < options_.inputs.size(); ++i) {
      // One input is the cluster, after --megatron-args or --workload.
      const bool is_model = options_.inputs.size() == 2 && i == 0;
      RETURN_IF_ERROR(
          FindInput(is_model ? ShippedKind::kModel : ShippedKind::kCluster, &options_.inputs[i]));
    }
    if (options_.out.empty()) options_.out = DefaultOut();
    return OkStatus();
  }

  int Run() {
    WarnOfProcesses();
    // Two runs must not write into one directory at the same time.
    Result<RunLock> lock = RunLock::Take(options_.out, RunLock::Missing::kMake);
    if (!lock.ok()) {
      Say(lock.error().ToString() + "\n");
      return kExitBadInput;
    }
    if (!fs::is_directory(options_.out)) {
      Say(Error("cannot create the run directory", {options_.out, 0, 0}).ToString() + "\n");
      return kExitBadInput;
    }
    if (!lock->warning().empty()) {
      Say(Printable(fmt::format("{}: {}\n", caller_.name, lock->warning())));
    }
    lock->LetInChildren();
    locked_ = lock->held();
    for (const Words& command : Commands()) {
      const int status = RunStage(command);
      if (status != 0) return status;
    }
    return 0;
  }

  // The commands of the stages, as a shell takes them.
  std::string Text() const {
    std::string text;
    for (const Words& command : Commands()) {
      Words quoted;
      for (const std::string& word : command) quoted.push_back(Quoted(word));
      text += Join(quoted, " ") + "\n";
    }
    return text;
  }

 private:
  Status CheckHostfile() {
    if (options_.processes.empty()) return OkStatus();
    if (!options_.hostfile.empty()) {
      RETURN_IF_ERROR(CheckReadable(options_.hostfile));
      ASSIGN_OR_RETURN(const std::string text, ReadFile(options_.hostfile));
      ASSIGN_OR_RETURN(machines_, MachinesOfHostfile(text, options_.hostfile));
    }
    return OkStatus();
  }

  // Replaces the name of a shipped file by the file.
  Status FindInput(ShippedKind kind, std::string* input) const {
    const std::string file = FileMeant(kind, *input);
    if (file != *input && !options_.quiet && !options_.dry_run) {
      Say(fmt::format("{}: {} is the shipped {}\n", caller_.name, *input, file));
    }
    *input = file;
    return CheckReadable(file, ShippedNames(kind));
  }

  std::string DefaultOut() const {
    const std::string& model =
        options_.megatron_args.empty() ? options_.inputs.front() : options_.megatron_args;
    // Every model of Hugging Face has a file of this name, in a folder with the model's.
    fs::path named = fs::path(model).lexically_normal();
    if (named.filename() == "config.json" && named.has_parent_path()) named = named.parent_path();
    const std::string name =
        named.filename() == fs::path(model).filename() ? named.stem() : named.filename();
    return fmt::format("runs/{}-{}", name, fs::path(options_.inputs.back()).stem().string());
  }

  // The threads of one process use all cores of a machine, and need no messages between them.
  void WarnOfProcesses() const {
    if (options_.processes.empty() || options_.processes == "1" || machines_ > 1) return;
    if (options_.quiet || options_.last_stage < 3 || options_.first_stage > 3) return;
    Say(fmt::format(
        "{}: warning: {} processes on one machine are slower than the threads of one process; "
        "they pay where the memory of one machine does not suffice (--hostfile)\n",
        caller_.name, options_.processes));
  }

  std::vector<Words> Commands() const {
    std::vector<Words> commands;
    if (!options_.workload.empty() && !options_.inputs.empty()) {
      Words words = {Beside("workload-gen")};
      Add(&words, options_.common_args);
      Add(&words, {"check", options_.out, "--cluster", options_.inputs[0]});
      Add(&words, options_.workload_args);
      commands.push_back(words);
    }
    for (int stage = options_.first_stage; stage <= options_.last_stage; ++stage) {
      commands.push_back(CommandOf(Stages()[static_cast<size_t>(stage)]));
    }
    return commands;
  }

  Words CommandOf(const std::string& stage) const {
    Words words;
    if (stage == "exec-engine") words = Launcher();
    words.push_back(Beside(stage));
    Add(&words, options_.common_args);
    words.push_back("--if-changed");
    if (stage == "workload-gen") {
      Add(&words, options_.inputs);
      Add(&words, {"-o", options_.out});
      Add(&words, options_.workload_args);
      return words;
    }
    words.push_back(options_.out);
    if (stage == "simccl" && !options_.planner.empty()) {
      Add(&words, {"--planner", options_.planner});
    }
    if (stage == "compute-sim") {
      for (const std::string& file : options_.gpu_profiles) Add(&words, {"--gpu-profile", file});
    }
    if (stage == "exec-engine") {
      for (const auto& [name, value] : {std::pair("--network", options_.network),
                                        {"--threads", options_.threads},
                                        {"--until", options_.until},
                                        {"--iterations", options_.iterations},
                                        {"--fold", options_.fold}}) {
        if (!value.empty()) Add(&words, {name, value});
      }
    }
    return words;
  }

  // What starts exec-engine in several processes. Each process has several threads, so no process
  // is bound to a core. mpirun's message about a failed process is hidden, because the process
  // prints a better one.
  Words Launcher() const {
    if (options_.processes.empty()) return {};
    Words words = {"mpirun",          "--quiet", "--bind-to",       "none",
                   "--oversubscribe", "-np",     options_.processes};
    if (!options_.hostfile.empty()) Add(&words, {"--hostfile", options_.hostfile});
    // The first process may be on another machine, and has to know that the lock is held for it.
    if (!options_.hostfile.empty() && locked_) Add(&words, {"-x", kRunLockVariable});
    if (::geteuid() == 0) words.push_back("--allow-run-as-root");
    return words;
  }

  static void Add(Words* words, const Words& more) {
    words->insert(words->end(), more.begin(), more.end());
  }

  static std::string Beside(const std::string& tool) { return FolderOfExecutable() + "/" + tool; }

  // Returns the stage's exit status. A stage that dies from a signal is an internal error.
  int RunStage(const Words& command) const {
    const bool launched = command.front() == "mpirun";
    if (launched) {
      if (FindProgram("mpirun", ValueOf(OwnEnvironment(), "PATH")).empty()) {
        Say(fmt::format(
            "{}: error: --processes needs mpirun, which this machine lacks: install openmpi-bin\n",
            caller_.name));
        return kExitBadInput;
      }
      // hwloc has messages about a container without /sys.
      ::setenv("HWLOC_HIDE_ERRORS", "2", /*overwrite=*/1);
    }
    const Result<GroupEnd> end = RunGroup(command, /*by_line=*/launched);
    if (!end.ok()) {
      Say(fmt::format("{}: error: {}\n", caller_.name, end.error().ToString()));
      return kExitBadInput;
    }
    // An interrupted mpirun has exit status 1, as one whose process failed. Such a process says why.
    const bool silent = launched && end->status == kExitBadInput && !end->said_error;
    if (end->interrupted || silent) {
      Say(fmt::format("{}: interrupted\n", caller_.name));
      return kExitInterrupted;
    }
    if (launched && end->status == kNotStarted) {
      Say(fmt::format("{}: error: mpirun could not start the processes{}\n", caller_.name,
                      options_.hostfile.empty() ? "" : " on the machines of " + options_.hostfile));
      return kExitBadInput;
    }
    if (end->status <= kExitInternal || end->status == kExitInterrupted) return end->status;
    const std::string stage = launched ? "exec-engine" : BaseName(command.front());
    Say(fmt::format("{}: internal error: {} ended with status {}\n", caller_.name, stage,
                    end->status));
    return kExitInternal;
  }

  Caller caller_;
  RunOptions options_;
  int machines_ = 1;
  bool locked_ = false;
};

}  // namespace

int RunPipeline(const Caller& caller, const std::vector<std::string>& words) {
  const Result<RunOptions> options = ParseRunOptions(words);
  if (!options.ok()) {
    Say(fmt::format("{0}: error: {1}\n{0}: see {2} --help\n", caller.name,
                    options.error().message(), caller.command));
    return kExitUsage;
  }
  if (options->help) {
    return Print(caller, RunHelp(caller.command));
  }
  Pipeline pipeline(caller, *options);
  const Status files = pipeline.CheckFiles();
  if (!files.ok()) {
    Say(files.error().ToString() + "\n");
    return kExitBadInput;
  }
  if (options->dry_run) {
    return Print(caller, pipeline.Text());
  }
  return pipeline.Run();
}

}  // namespace drydock
