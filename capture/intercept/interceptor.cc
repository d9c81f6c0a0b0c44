#include "capture/intercept/interceptor.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "capture/intercept/host_answers.h"
#include "capture/intercept/processes_around.h"
#include "capture/intercept/stage.h"
#include "capture/intercept/wrappers.h"
#include "capture/launch/job_steps.h"
#include "capture/launch/jobs.h"
#include "capture/launch/launchers.h"
#include "capture/launch/python_command.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

constexpr int kNotFound = 127, kCannotRun = 126;

// As a note for the user: with the place that it is about, if any.
std::string TextOf(const Error& error) {
  const Location& location = error.diagnostics().front().location;
  if (!location.known()) return error.message();
  const std::string line = location.line > 0 ? fmt::format(":{}", location.line) : "";
  return fmt::format("{}{}: {}", location.file, line, error.message());
}

template <size_t kCount>
bool IsOneOf(const std::string& word, const char* const (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Becomes this program. Goes around preload.so, which would send it here again.
[[noreturn]] void Become(const std::string& path, const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::syscall(SYS_execve, path.c_str(), argv.data(), environ);
  if (errno == ENOEXEC) {  // a script without a first line
    std::vector<std::string> shell = {"sh", path};
    shell.insert(shell.end(), words.begin() + 1, words.end());
    Become("/bin/sh", shell);
  }
  const int failed = errno;
  fprintf(stderr, "%s: %s\n", path.c_str(), strerror(failed));
  ::_exit(failed == ENOENT ? kNotFound : kCannotRun);
}

// Sets variables of this process, and its folder unless that is "".
void Enter(const Variables& variables, const std::string& folder) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  if (folder.empty() || ::chdir(folder.c_str()) == 0) return;
  fprintf(stderr, "%s: %s\n", folder.c_str(), strerror(errno));
  ::_exit(1);
}

class Interceptor {
 public:
  Interceptor(std::string folder, StageFacts facts)
      : folder_(std::move(folder)), facts_(std::move(facts)) {}

  int Run(const std::vector<std::string>& words);

 private:
  Call Observe(const std::vector<std::string>& words) const;
  int Keep(Seen seen, const Call& call, int status = 0) const;
  int Refuse(const Call& call, const std::string& why) const;
  int Answer(const Call& call, const Result<std::string>& text) const;
  int RunPython(const std::vector<std::string>& words) const;
  int RunStep(const Call& call) const;
  int RunBatch(const Call& call) const;
  int RunAllocation(const Call& call) const;
  int RunWrapped(const Call& call, const InsideCommand& inside) const;
  pid_t Start(const StepCommand& command, const JobStep& step) const;
  size_t ProgramsOf(const JobStep& step) const;
  [[noreturn]] void RunInside(const std::vector<std::string>& words) const;
  [[noreturn]] void RunReal(const std::vector<std::string>& words) const;
  std::string Find(const std::string& name) const;

  std::string folder_;
  StageFacts facts_;
};

// The call as a launcher would have seen it: without what belongs to the stand-ins.
Call Interceptor::Observe(const std::vector<std::string>& words) const {
  Call call;
  call.words = words;
  call.folder = WorkingFolder();
  call.environment = OwnEnvironment();
  call.step = StepOfText(ValueOf(call.environment, kStepVariable));
  return call;
}

int Interceptor::Keep(Seen seen, const Call& call, int status) const {
  const Status kept = AddCall(folder_, {seen, call});
  if (kept.ok()) return status;
  fprintf(stderr, "%s\n", kept.error().ToString().c_str());
  return 1;
}

int Interceptor::Refuse(const Call& call, const std::string& why) const {
  Call refused = call;
  refused.refused = why;
  fprintf(stderr, "%s\n", why.c_str());
  return Keep(Seen::kRefused, refused, 1);
}

int Interceptor::Answer(const Call& call, const Result<std::string>& text) const {
  if (!text.ok()) return Refuse(call, TextOf(text.error()));
  fputs(text->c_str(), stdout);
  return 0;
}

// The file that PATH finds behind the stand-ins; "" if there is none.
std::string Interceptor::Find(const std::string& name) const {
  const char* path = getenv("PATH");
  return FindProgram(name, path == nullptr ? "/usr/bin:/bin" : path, folder_ + "/bin");
}

void Interceptor::RunReal(const std::vector<std::string>& words) const {
  const std::string& program = words.front();
  std::string path = program;
  if (program.find('/') == std::string::npos) {
    path = IsPython(program) && !facts_.python.empty() ? facts_.python : Find(program);
  }
  // A Python of another machine, or a name that this machine spells in another way.
  if (IsPython(program) && (path.empty() || ::access(path.c_str(), X_OK) != 0)) {
    path = facts_.python.empty() ? Find("python3") : facts_.python;
  }
  if (path.empty()) {
    fprintf(stderr, "%s: command not found\n", program.c_str());
    ::_exit(Keep(Seen::kMissing, Observe(words), kNotFound));
  }
  Become(path, words);
}

// Runs a command that a launcher or wrapper has inside it. A stand-in is found also if the script
// has set PATH anew.
void Interceptor::RunInside(const std::vector<std::string>& words) const {
  const std::string name = BaseName(words.front());
  const std::string stand_in = folder_ + "/bin/" + name;
  if (FileExists(stand_in)) {
    std::vector<std::string> inner = {words.front(), stand_in};
    inner.insert(inner.end(), words.begin() + 1, words.end());
    if (words.front() == name) inner.front() = folder_ + "/intercept";
    Become(folder_ + "/intercept", inner);
  }
  const std::string path =
      words.front().find('/') != std::string::npos ? words.front() : Find(words.front());
  if (path.empty()) {
    fprintf(stderr, "%s: command not found\n", words.front().c_str());
    ::_exit(Keep(Seen::kMissing, Observe(words), kNotFound));
  }
  Become(path, words);
}

int Interceptor::RunPython(const std::vector<std::string>& words) const {
  const PythonCommand python = ReadPythonCommand(words);
  if (python.kind == PythonCommand::Kind::kOther) RunReal(words);
  if (python.kind == PythonCommand::Kind::kModule) {
    static constexpr const char* kSkipped[] = {"pip", "wandb", "huggingface_hub"};
    static constexpr const char* kTools[] = {"venv",       "virtualenv", "site",    "sysconfig",
                                             "compileall", "json.tool",  "zipfile", "http.server"};
    if (IsOneOf(python.target, kSkipped)) return Keep(Seen::kSkipped, Observe(words));
    if (IsOneOf(python.target, kTools)) RunReal(words);
  }
  const bool rank = getenv(kStepVariable) != nullptr || getenv("RANK") != nullptr;
  if ((facts_.run_helpers && !rank) || ShellReadsOutput(facts_.owner)) RunReal(words);
  return Keep(Seen::kProgram, Observe(words));
}

// Starts the command of a step as one of its tasks.
pid_t Interceptor::Start(const StepCommand& command, const JobStep& step) const {
  fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  Enter(command.environment, command.folder);
  Enter(VariablesOfStep(step, step.task), "");
  ::setenv(kStepVariable, TextOfStep(step).c_str(), 1);
  std::vector<std::string> words = command.command;
  // srun finds a program of its own folder, too.
  if (words.front().find('/') == std::string::npos && !IsStandIn(words.front()) &&
      Find(words.front()).empty()) {
    words.front() = "./" + words.front();
  }
  RunInside(words);
}

// How many programs of a step have been seen.
size_t Interceptor::ProgramsOf(const JobStep& step) const {
  const Result<std::vector<SeenCall>> calls = ReadCalls(folder_);
  if (!calls.ok()) return 0;
  return static_cast<size_t>(std::count_if(calls->begin(), calls->end(), [&](const SeenCall& seen) {
    return seen.seen == Seen::kProgram && seen.call.step && seen.call.step->number == step.number;
  }));
}

int Interceptor::RunStep(const Call& call) const {
  const Result<StepCommand> command = ReadStep(call, facts_.cluster);
  if (!command.ok()) return Refuse(call, TextOf(command.error()));
  JobStep step = command->step;
  step.number = ::getpid();
  const int status = WaitForEnd(Start(*command, step));
  // The command may write the number of its task into the program's arguments. The last task tells.
  if (step.tasks() > 1 && ProgramsOf(step) > 0) {
    step.task = step.tasks() - 1;
    WaitForEnd(Start(*command, step));
  }
  return status;
}

// The text of the script that sbatch runs, and the words that run it. Without a name it is read
// from the standard input.
struct JobScript {
  std::string path, text;
  std::vector<std::string> options, command;
};

Result<JobScript> ReadJobScript(const Call& call, const std::string& folder) {
  ASSIGN_OR_RETURN(const size_t at, ScriptOfSbatch(call.words));
  const auto first = call.words.begin() + static_cast<std::ptrdiff_t>(at);
  JobScript script;
  script.options.assign(call.words.begin() + 1, first);
  script.command = {"bash"};
  if (at < call.words.size()) {
    const std::string& path = call.words[at];
    ASSIGN_OR_RETURN(script.text,
                     ReadFile(path.starts_with("/") ? path : call.folder + "/" + path));
    script.command.push_back(path.starts_with("/") ? path : call.folder + "/" + path);
    script.command.insert(script.command.end(), first + 1, call.words.end());
    script.path = path;
    return script;
  }
  ASSIGN_OR_RETURN(const std::string wrapped, WrappedBySbatch(call.words));
  script.text = wrapped.empty() ? "" : "#!/bin/sh\n" + wrapped + "\n";
  char buffer[4096];
  for (size_t got = 1; wrapped.empty() && got > 0;) {
    got = fread(buffer, 1, sizeof buffer, stdin);
    script.text.append(buffer, got);
  }
  if (script.text.empty()) return Error("sbatch: it names no script, and its input is empty");
  const std::string kept = fmt::format("{}/tmp/job-{}.sh", folder, ::getpid());
  RETURN_IF_ERROR(WriteFileAtomically(kept, script.text));
  script.path = "the script of sbatch";
  script.command.push_back(kept);
  return script;
}

// sbatch SCRIPT: runs the script as the job's first host would, and prints the job's number.
int Interceptor::RunBatch(const Call& call) const {
  const Result<JobScript> script = ReadJobScript(call, folder_);
  if (!script.ok()) return Refuse(call, TextOf(script.error()));
  const Result<Job> job =
      ReadJobOfScript(script->path, script->text, script->options, facts_.cluster);
  if (!job.ok()) return Refuse(call, TextOf(job.error()));
  fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    Enter(job->variables, job->folder);
    ::setenv("SLURM_SUBMIT_DIR", call.folder.c_str(), 1);
    RunInside(script->command);
  }
  const int status = WaitForEnd(child);
  const auto given = [&](const char* option) {
    return std::find(script->options.begin(), script->options.end(), option) !=
           script->options.end();
  };
  if (!given("--quiet")) printf(given("--parsable") ? "1\n" : "Submitted batch job 1\n");
  return status;
}

// salloc OPTIONS COMMAND.
int Interceptor::RunAllocation(const Call& call) const {
  const Result<size_t> at = ScriptOfSbatch(call.words);
  if (!at.ok()) return Refuse(call, TextOf(at.error()));
  if (*at >= call.words.size()) return Refuse(call, "salloc: it names no command to run");
  const auto command = call.words.begin() + static_cast<std::ptrdiff_t>(*at);
  const Result<Job> job = ReadJob({call.words.begin() + 1, command}, facts_.cluster);
  if (!job.ok()) return Refuse(call, TextOf(job.error()));
  Enter(job->variables, job->folder);
  RunInside({command, call.words.end()});
}

int Interceptor::Run(const std::vector<std::string>& words) {
  static constexpr const char* kSilent[] = {"squeue", "sacct", "sinfo", "scancel"};
  static constexpr const char* kSkipped[] = {
      "pip",    "pip3",   "apt",    "apt-get",         "yum", "dnf",
      "wget",   "curl",   "wandb",  "huggingface-cli", "hf",  "aws",
      "gsutil", "gcloud", "azcopy", "module",          "ml",  "spack"};
  const std::string name = BaseName(words.front());
  if (name == kMissingName && words.size() > 1) {
    fprintf(stderr, "%s: command not found\n", words[1].c_str());
    return Keep(Seen::kMissing, Observe({words.begin() + 1, words.end()}), kNotFound);
  }
  const Call call = Observe(words);
  if (IsLauncher(words)) return Keep(Seen::kLaunch, call);
  if (IsPython(name)) return RunPython(words);
  if (IsStepLauncher(name)) return RunStep(call);
  if (name == "sbatch") return RunBatch(call);
  if (name == "salloc") return RunAllocation(call);
  if (name == "nvidia-smi") return Answer(call, NvidiaSmi(words, facts_.cluster));
  if (name == "hostname") {
    // Without a network, a host has no address but this one.
    static constexpr const char* kAddress[] = {"-i", "-I", "--ip-address", "--all-ip-addresses"};
    if (words.size() != 2 || !IsOneOf(words[1], kAddress)) RunReal(words);
    return Answer(call, std::string("127.0.0.1\n"));
  }
  if (name == "scontrol") return Answer(call, Scontrol(words, call.environment));
  if (name == "sleep") {  // there is nothing to wait for
    const timespec moment = {0, 50'000'000};
    ::nanosleep(&moment, nullptr);
    return 0;
  }
  if (IsOneOf(name, kSilent)) return 0;
  if (name == "kubectl") {
    return Refuse(call, fmt::format("kubectl: '{}' runs elsewhere; write the command that it runs",
                                    Join(words, " ")));
  }
  if (IsOneOf(name, kSkipped)) return Keep(Seen::kSkipped, call);
  const Result<std::optional<InsideCommand>> inside = CommandInside(words);
  if (!inside.ok()) return Refuse(call, TextOf(inside.error()));
  if (inside->has_value()) return RunWrapped(call, **inside);
  return Keep(Seen::kSkipped, call);  // "accelerate config"
}

// Whether a command for another machine can start a program; others, such as one that cleans up
// there, do not run here.
bool MayLaunch(const std::vector<std::string>& words) {
  const std::string text = Join(words, " ");
  static constexpr const char* kMarks[] = {"torchrun", "deepspeed", "accelerate", "python",
                                           "srun",     "mpirun",    "mpiexec",    ".sh"};
  return std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](const char* mark) { return text.find(mark) != std::string::npos; });
}

int Interceptor::RunWrapped(const Call& call, const InsideCommand& inside) const {
  const bool as_other = BaseName(call.words.front()) == "sudo";
  if (inside.words.empty() || (as_other && !IsStandIn(inside.words.front()))) {
    return Keep(Seen::kSkipped, call);
  }
  if (inside.elsewhere && !MayLaunch(inside.words)) return Keep(Seen::kSkipped, call);
  if (inside.elsewhere || !inside.ignored.empty()) {
    Call told = call;
    told.refused = fmt::format("'{}' ran its command here{}{}", BaseName(call.words.front()),
                               inside.elsewhere ? ", with the files of this machine" : "",
                               inside.ignored.empty() ? "" : ", without " + inside.ignored);
    Keep(Seen::kMoved, told);
  }
  Enter(inside.environment, inside.folder);
  RunInside(inside.words);
}

}  // namespace

int Intercept(const std::string& folder, const std::vector<std::string>& words) {
  const Result<StageFacts> facts = ReadFacts(folder);
  if (!facts.ok()) {
    fprintf(stderr, "%s\n", facts.error().ToString().c_str());
    return 1;
  }
  return Interceptor(folder, *facts).Run(words);
}

}  // namespace drydock::capture
