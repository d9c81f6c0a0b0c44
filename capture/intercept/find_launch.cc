#include "capture/intercept/find_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "capture/intercept/rank_launches.h"
#include "capture/intercept/script_notes.h"
#include "capture/intercept/shell_command.h"
#include "capture/launch/jobs.h"
#include "capture/launch/launchers.h"
#include "capture/launch/python_command.h"
#include "capture/launch/user_variables.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

bool IsProgram(const std::vector<std::string>& words) {
  return IsPython(words.front()) && ReadPythonCommand(words).kind != PythonCommand::Kind::kOther;
}

// A file of Python runs through Python.
std::vector<std::string> WithPython(std::vector<std::string> words) {
  if (words.front().ends_with(".py")) words.insert(words.begin(), "python");
  return words;
}

// Makes the command run as sbatch would run its script, if that has #SBATCH lines. Adds a note if
// it has those of another system. A script inside a job has no other.
Status BecomeJob(ShellCommand* command, ScriptOptions* options, std::vector<std::string>* notes) {
  const std::string script = command->script;
  if (script.empty() || std::getenv("SLURM_JOB_ID") != nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(script));
  const std::string other = OtherJobLine(text);
  if (!other.empty()) {
    notes->push_back(fmt::format(
        "{}:{}; the options of this system are not read; set the variables of the job before the "
        "command: NAME=VALUE drydock capture ...",
        script, other));
  }
  if (JobOptionsOfScript(text).empty()) return OkStatus();
  ASSIGN_OR_RETURN(const Job job, ReadJobOfScript(script, text, {}, options->cluster));
  options->variables = job.variables;
  options->folder = job.folder;
  const std::string folder = WorkingFolder();
  Set(&options->variables, "SLURM_SUBMIT_DIR", folder);
  for (std::string& word : command->words) {
    if (word == script && !word.starts_with("/")) word = folder + "/" + word;
  }
  return OkStatus();
}

Result<FoundLaunches> FromScript(const std::vector<std::string>& words, ScriptOptions options) {
  FoundLaunches found;
  ASSIGN_OR_RETURN(ShellCommand command, ReadShellCommand(words));
  RETURN_IF_ERROR(BecomeJob(&command, &options, &found.notes));
  ASSIGN_OR_RETURN(ScriptRun run, RunScript(command.words, options));
  const bool launched = std::any_of(run.calls.begin(), run.calls.end(), [](const SeenCall& seen) {
    return seen.seen == Seen::kLaunch;
  });
  RankLaunches programs(options.cluster, &found.notes);
  for (const SeenCall& seen : run.calls) {
    if (seen.seen == Seen::kLaunch) {
      ASSIGN_OR_RETURN(Launch launch, ReadLauncher(seen.call, options.cluster));
      const bool known =
          std::any_of(found.launches.begin(), found.launches.end(),
                      [&](const Launch& other) { return SameLaunch(launch, other); });
      if (!known) found.launches.push_back(std::move(launch));
    } else if (seen.seen == Seen::kProgram && !launched) {
      RETURN_IF_ERROR(programs.Add(seen.call));
    }
  }
  if (!launched) {
    ASSIGN_OR_RETURN(found.launches, programs.Take());
  }
  if (found.launches.empty()) return Error(WhyNothing(run, options, words));
  AddNotes(run, launched, &found.notes);
  found.script.emplace(std::move(run));
  return found;
}

Result<FoundLaunches> Find(const std::vector<std::string>& words, const ScriptOptions& options) {
  const std::vector<std::string> command = WithPython(words);
  const Call call{command, WorkingFolder(), OwnEnvironment(), std::nullopt, ""};
  FoundLaunches found;
  if (IsLauncher(command)) {
    ASSIGN_OR_RETURN(Launch launch, ReadLauncher(call, options.cluster));
    found.launches.push_back(std::move(launch));
    return found;
  }
  if (IsProgram(command)) {
    ASSIGN_OR_RETURN(Launch launch, ReadProgram(call, options.cluster));
    found.launches.push_back(std::move(launch));
    return found;
  }
  if (IsPython(command.front())) {
    return Error("Python without a file or a module starts no training program");
  }
  return FromScript(command, options);
}

}  // namespace

bool IsScript(const std::vector<std::string>& words) {
  return !words.front().ends_with(".py") && !IsLauncher(words) && !IsPython(words.front());
}

Result<FoundLaunches> FindLaunches(const std::vector<std::string>& words,
                                   const ScriptOptions& options) {
  ASSIGN_OR_RETURN(FoundLaunches found, Find(words, options));
  const std::string inherited = InheritedSettings(found.launches, OwnEnvironment());
  if (!inherited.empty()) {
    found.notes.push_back("the program gets from your environment: " + inherited);
  }
  return found;
}

}  // namespace drydock::capture
