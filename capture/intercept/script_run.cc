#include "capture/intercept/script_run.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "capture/intercept/isolation.h"
#include "core/base/plural.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

void Replace(std::string* text, const std::string& what, const std::string& by) {
  for (size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
  }
}

// Read by bash before a script: what fails in a namespace; commands that PATH does not find, after
// the script has set it anew; which command has failed last. At the end bash knows the command, but
// not its line any more.
constexpr const char* kFunctions = R"bash(
ulimit() { builtin ulimit "$@" 2>/dev/null || true; }
command_not_found_handle() {
  if [ -e "@/bin/$1" ]; then "@/bin/$1" "${@:2}"; else @/bin/missing-command "$@"; fi
}
drydock_line=$'\n'
trap 'echo "${BASH_SOURCE[0]:-$0}:$LINENO: ${BASH_COMMAND%%"$drydock_line"*}" >>@/failed' ERR
trap '{ drydock_status=$?; set +x; } 2>/dev/null
drydock_last=": ${BASH_COMMAND%%"$drydock_line"*}"
if [ $drydock_status != 0 ] && [[ "$(tail -n 1 @/failed 2>/dev/null)" != *"$drydock_last" ]]; then
  echo "${BASH_SOURCE[0]:-$0}$drydock_last" >>@/failed
fi' EXIT
)bash";

std::string BashFunctions(const std::string& folder) {
  std::string text = kFunctions;
  Replace(&text, "@/", folder + "/");
  return text;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status PutStandIns(const ScriptOptions& options, const std::string& folder) {
  for (const char* name : {"bin", "calls", "home", "tmp"}) {
    RETURN_IF_ERROR(MakeDirectories(folder + "/" + name));
  }
  for (const auto& [file, name] :
       {std::pair{"intercept", "intercept"}, std::pair{"libpreload.so", "preload.so"}}) {
    const std::string from = options.stand_ins + "/" + file;
    if (!FileExists(from)) return Error("missing; build drydock-capture again", {from, 0, 0});
    std::error_code failed;
    fs::create_symlink(from, folder + "/" + name, failed);
    if (failed) return Error("cannot be made: " + failed.message(), {folder + "/" + name, 0, 0});
  }
  for (const std::string& name : StandInNames()) {
    const std::string file = folder + "/bin/" + name;
    RETURN_IF_ERROR(WriteFileAtomically(file, fmt::format("#!{}/intercept\n", folder)));
    ::chmod(file.c_str(), 0755);
  }
  RETURN_IF_ERROR(WriteFileAtomically(folder + "/functions.sh", BashFunctions(folder)));
  return WriteFacts(folder, {options.cluster, options.python, ::getpid(), options.run_helpers});
}

// The environment of the script: the user's, with the stand-ins in front.
Variables ScriptEnvironment(const ScriptOptions& options, const std::string& folder) {
  Variables variables = OwnEnvironment();
  for (const auto& [name, value] : options.variables) Set(&variables, name, value);
  const auto before = [&](const char* name, const std::string& value, const char* separator) {
    const std::string present = ValueOf(variables, name);
    Set(&variables, name, value + (present.empty() ? "" : separator + present));
  };
  before("PATH", folder + "/bin", ":");
  before("LD_PRELOAD", folder + "/preload.so", " ");
  Set(&variables, "BASH_ENV", folder + "/functions.sh");
  if (!options.keep_home) Set(&variables, "HOME", folder + "/home");
  Set(&variables, "TMPDIR", folder + "/tmp");
  return variables;
}

// Gives a variable back the value that it has outside, but for what the script has added.
void Restore(Variables* variables, const char* name, const std::string& ours,
             const char* separators) {
  std::string value = ValueOf(*variables, name);
  size_t at = value.find(ours);
  if (at == std::string::npos) return;
  size_t length = ours.size();
  if (at + length < value.size() && strchr(separators, value[at + length]) != nullptr) {
    ++length;
  } else if (at > 0 && strchr(separators, value[at - 1]) != nullptr) {
    --at, ++length;
  }
  value.erase(at, length);
  if (value.empty() && std::getenv(name) == nullptr) {
    Unset(variables, name);
  } else {
    Set(variables, name, value);
  }
}

// Makes a call what it would have been without the stand-ins.
void Undo(const ScriptOptions& options, const std::string& folder, Call* call) {
  Variables* variables = &call->environment;
  Restore(variables, "PATH", folder + "/bin", ":");
  Restore(variables, "LD_PRELOAD", folder + "/preload.so", ": ");
  for (const char* name : {"BASH_ENV", "TMPDIR"}) {
    const std::string ours = folder + (name[0] == 'B' ? "/functions.sh" : "/tmp");
    if (ValueOf(*variables, name) != ours) continue;
    if (std::getenv(name) == nullptr) {
      Unset(variables, name);
    } else {
      Set(variables, name, Variable(name));
    }
  }
  Unset(variables, kStepVariable);
  Unset(variables, "_");
  const std::string home = folder + "/home";
  if (options.keep_home || Variable("HOME").empty()) return;
  // "$HOME/data" is a word with the script's HOME in it.
  for (std::string& word : call->words) Replace(&word, home, Variable("HOME"));
  for (auto& [name, value] : *variables) Replace(&value, home, Variable("HOME"));
  Replace(&call->folder, home, Variable("HOME"));
}

// `which torchrun` finds the stand-in.
void NameStandIns(const std::string& folder, Call* call) {
  for (std::string& word : call->words) Replace(&word, folder + "/bin/", "");
}

// The folder around that of the stand-ins. The script may leave its working folder, so the name is
// whole. The dynamic linker splits LD_PRELOAD, and the kernel the first line of a stand-in, at
// blanks; PATH and LD_PRELOAD are split at colons.
Result<std::string> ScratchFolder() {
  std::error_code failed;
  const fs::path named = fs::temp_directory_path(failed);
  if (failed) return Error("TMPDIR names no folder: " + failed.message());
  const std::string folder = fs::absolute(named, failed).string();
  if (failed) return Error("TMPDIR names no folder: " + failed.message());
  if (folder.find_first_of(" \t\n:") != std::string::npos) {
    return Error(
        fmt::format("TMPDIR is '{}'; a script needs a folder without blanks and colons in "
                    "its name, such as /tmp",
                    folder));
  }
  return folder;
}

}  // namespace

Result<ScriptRun> RunScript(const std::vector<std::string>& words, const ScriptOptions& options) {
  ASSIGN_OR_RETURN(const std::string scratch, ScratchFolder());
  ASSIGN_OR_RETURN(StagedDirectory staged, StagedDirectory::Create(scratch + "/drydock-launch"));
  ScriptRun run{std::move(staged), {}, 0, {}, "", false, false};
  const std::string& folder = run.folder.path();
  RETURN_IF_ERROR(PutStandIns(options, folder));
  IsolatedCommand command;
  command.words = words;
  command.folder = options.folder;
  for (const auto& [name, value] : ScriptEnvironment(options, folder)) {
    command.environment.push_back(name + "=" + value);
  }
  command.quiet = options.quiet;
  command.time_limit_s = options.time_limit_s;
  command.done = [&folder] { return FileExists(folder + "/calls/0"); };
  ASSIGN_OR_RETURN(const IsolatedEnd end, RunIsolated(command));
  if (end.timed_out) {
    return Error(fmt::format("'{}' has not ended after {}; --time-limit gives it more",
                             words.front(), Plural(options.time_limit_s, "second")));
  }
  run.status = end.status;
  run.not_isolated = end.not_isolated;
  run.left_running = end.left_running;
  const Result<std::string> failed_commands = ReadFile(folder + "/failed");
  std::istringstream failed_lines(failed_commands.ok() ? *failed_commands : "");
  for (std::string line; std::getline(failed_lines, line);) run.failed.push_back(line);
  ASSIGN_OR_RETURN(run.calls, ReadCalls(folder));
  for (SeenCall& seen : run.calls) {
    Undo(options, folder, &seen.call);
    NameStandIns(folder, &seen.call);
  }
  std::error_code failed;
  run.wrote_home = !options.keep_home && !fs::is_empty(folder + "/home", failed) && !failed;
  return run;
}

}  // namespace drydock::capture
