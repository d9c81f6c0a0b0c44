// Simple commands: functions, programs, and shells that a program starts.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/files.h"
#include "workload-gen/import/shell/shell_script.h"

namespace drydock {
namespace {

const std::set<std::string> kShells = {"sh", "bash"};

// Programs that start another one and pass their environment on.
const std::set<std::string> kPassing = {"srun",    "nohup",   "numactl", "taskset", "nice",
                                        "timeout", "setsid",  "stdbuf",  "sh",      "bash",
                                        "mpirun",  "mpiexec", "time"};

// Programs, after a file that is not read has perhaps defined functions of other names.
const std::set<std::string> kPrograms = {
    "awk",    "basename", "cat",      "chmod",      "clear",    "conda",     "cp",       "curl",
    "cut",    "date",     "dirname",  "docker",     "df",       "du",        "env",      "find",
    "free",   "git",      "grep",     "head",       "hostname", "ip",        "kill",     "ln",
    "ls",     "lscpu",    "mkdir",    "mktemp",     "ml",       "module",    "mpirun",   "mv",
    "nohup",  "nproc",    "nvcc",     "nvidia-smi", "pip",      "pip3",      "pkill",    "ps",
    "python", "python3",  "realpath", "rm",         "rsync",    "sbatch",    "scontrol", "sed",
    "seq",    "sleep",    "sort",     "squeue",     "srun",     "ssh",       "sync",     "tail",
    "tar",    "tee",      "timeout",  "torchrun",   "touch",    "tr",        "uname",    "uniq",
    "wc",     "wget",     "which",    "whoami",     "xargs",    "deepspeed", "bash",     "sh",
    "mpiexec"};

// Output of these is the path of a program.
bool IsProgramPath(const std::string& what) {
  return what.starts_with("$(which ") || what.starts_with("$(command -v ") ||
         what.starts_with("`which ");
}

}  // namespace

ShellAnswer ShellScript::Simple(const ShellCommand& command) {
  ShellExpander expander(&state_);
  // For these, NAME[1] is an element of an array.
  const std::string first =
      command.arguments.empty() ? "" : LiteralWord(command.arguments[0].word).value_or("");
  static const std::set<std::string> kElements = {"unset", "read",    "printf",
                                                  "let",   "mapfile", "readarray"};
  expander.subscripts = kElements.contains(first);
  Words words;
  bool declares = false;
  for (const ShellArgument& argument : command.arguments) {
    declares = declares || argument.assignment.has_value();
    if (argument.assignment.has_value()) continue;
    for (ShellText& word : expander.Fields(argument.word)) words.push_back(std::move(word));
  }
  Check(expander, command.at);
  if (failure_.has_value()) return {};
  if (words.empty() && !declares) {
    bool runs_command = false;
    for (const ShellAssignment& assignment : command.assignments) {
      expander.Assign(assignment);
      Check(expander, assignment.at);
      for (const ShellAtom& atom : assignment.value) {
        runs_command = runs_command || (atom.kind == ShellAtom::Kind::kExpansion &&
                                        atom.expansion->kind == ShellExpansion::Kind::kCommand);
      }
    }
    Redirect(command);
    return {runs_command ? Truth::kUnknown : Truth::kTrue, false, ""};
  }
  // Assignments before a command are of that command.
  std::map<std::string, std::shared_ptr<const ShellVariable>> hidden;
  for (const ShellAssignment& assignment : command.assignments) {
    if (assignment.is_array || assignment.has_index) {
      ShellScope::Hide(&state_, assignment.name, &hidden);
      expander.Assign(assignment);
    } else {
      // What the value itself assigns stays.
      const ShellText value = expander.Text(assignment.value);
      ShellScope::Hide(&state_, assignment.name, &hidden);
      expander.AssignElement(assignment.name, nullptr, value, assignment.append, assignment.at);
    }
    Check(expander, assignment.at);
    ShellVariable* variable = state_.Change(assignment.name);
    if (variable != nullptr) variable->exported = true;
  }
  const ShellAnswer answer = failure_.has_value() ? ShellAnswer() : Named(words, command);
  const std::string name = words.empty() ? "" : PlainText(words[0]);
  if (!(name == "exec" && words.size() == 1)) ShellScope::Restore(&state_, hidden);
  return answer;
}

// Runs a function, a command of the shell, or a program.
ShellAnswer ShellScript::Named(Words words, const ShellCommand& command) {
  bool functions = true;
  while (words.size() > 1 && IsResolved(words[0])) {
    const std::string prefix = PlainText(words[0]);
    const std::string next = PlainText(words[1]);
    if ((prefix != "command" && prefix != "builtin") || state_.functions.contains(prefix)) break;
    if (next == "-v" || next == "-V") return {};  // only looks for a command
    words.erase(words.begin(), words.begin() + (next == "-p" || next == "--" ? 2 : 1));
    functions = false;
    if (words.empty()) return {};
  }
  if (!IsResolved(words[0])) return Unnamed(words, command);
  const std::string name = PlainText(words[0]);
  const auto function = state_.functions.find(name);
  if (functions && function != state_.functions.end()) {
    Redirect(command);
    if (function->second != nullptr) return Call(function->second, words);
    External(words);
    state_.ForgetAll(
        fmt::format("'{}' may assign it: which of its functions bash calls is not known", name),
        command.at);
    return {};
  }
  const Builtin builtin = FindBuiltin(name);
  if (builtin == nullptr && BatchScript(words, command)) return {};
  if (builtin != nullptr) {
    input_ = Redirect(command);
    const ShellAnswer answer = (this->*builtin)(words, command);
    Check(ShellExpander(&state_), command.at);
    return answer;
  }
  const ShellAnswer answer = External(words);
  const bool program =
      kPrograms.contains(name) || name.find('/') != std::string::npos || name.starts_with("python");
  if (functions && state_.unknown_functions && !program) {
    state_.ForgetAll(fmt::format("'{}' may be a function that assigns it, of a text that is not "
                                 "read",
                                 name),
                     command.at, /*keeps_separators=*/true);
  }
  return answer;
}

// The name of the command is not known.
ShellAnswer ShellScript::Unnamed(const Words& words, const ShellCommand& command) {
  const ShellText& name = words[0];
  const ShellUnknown& unknown = session_.Of(*std::find_if(
      name.begin(), name.end(), [](const ShellChar& c) { return c.unresolved >= 0; }));
  const std::string what = unknown.what;
  const bool not_assigned =
      name.size() == 1 && unknown.kind == ShellUnknown::Kind::kNotAssigned && IsWide(name);
  const bool program = PlainText(name).find('/') != std::string::npos || IsProgramPath(what);
  External(words);
  if (program) return {};
  if (not_assigned) {
    // Without its value, the next word is the command.
    if (words.size() == 1) return {};
    ++mute_;
    const ShellAnswer answer =
        Either([&] { return Named(Words(words.begin() + 1, words.end()), command); },
               [&] { return ShellAnswer(); },
               fmt::format("a command whose name is {} may assign it", what), command.at);
    --mute_;
    return {answer.truth == Truth::kTrue ? Truth::kUnknown : answer.truth, false, ""};
  }
  state_.ForgetAll(
      fmt::format("a command may assign it whose name is {}, which is not known", what),
      command.at);
  return {};
}

// Joins the paths that return from a function or a file.
ShellAnswer ShellScript::Returned(ShellAnswer answer, const std::string& why, const ShellChar& at) {
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  bool known = state_.alive;
  Truth truth = answer.truth;
  for (size_t i = 0; i < frame.returns.size(); ++i) {
    truth = !known ? frame.results[i] : truth == frame.results[i] ? truth : Truth::kUnknown;
    known = true;
    state_.Join(frame.returns[i], why, at);
  }
  return {truth, answer.assumed && frame.returns.empty(), ""};
}

ShellAnswer ShellScript::Call(const ShellCommandPtr& body, const Words& words) {
  const ShellState caller = state_;
  std::vector<Loop> loops = std::exchange(loops_, {});
  state_.arguments.assign(words.begin() + 1, words.end());
  state_.top_arguments = false;
  state_.lost_arguments = -1;
  state_.locals.emplace_back();
  frames_.emplace_back();
  const ShellAnswer result = Run(*body);
  const ShellAnswer answer = Returned(
      result, "the function may assign it, and where it returns is not known", words[0][0]);
  loops_ = std::move(loops);
  if (!state_.locals.empty()) {
    ShellScope::Restore(&state_, state_.locals.back());
    state_.locals.pop_back();
  }
  state_.arguments = caller.arguments;
  state_.top_arguments = caller.top_arguments;
  state_.shifted = caller.shifted;
  state_.lost_arguments = caller.lost_arguments;
  return answer;
}

ShellAnswer ShellScript::External(const Words& words) {
  if (ChildShell(words)) return {};
  if (mute_ == 0 && is_wanted_(words)) {
    started_.push_back({words, state_});
    session_.Spend(state_.Names().size() / 16 + 1);
  }
  return {};
}

// A shell that a command starts, with what it runs.
struct ShellScript::Child {
  enum class What : uint8_t { kText, kFile, kInput };
  What what = What::kInput;
  size_t at = 0;  // of the text or the file in the words of the command
};

// What `sh` does whose options begin at words[at]: sh -e -c "TEXT", sh -x FILE, or sh, which reads
// its input. Nothing for options that are not understood.
std::optional<ShellScript::Child> ShellScript::ChildOf(const Words& words, size_t at) {
  bool text = false;
  for (; at < words.size() && IsResolved(words[at]); ++at) {
    const std::string word = PlainText(words[at]);
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) break;
    if (word == "--") {
      ++at;
      break;
    }
    if (word == "--login" || word == "--norc" || word == "--noprofile") continue;
    if (word.find_first_not_of("-+lexuco") != std::string::npos || word[1] == '-') {
      return std::nullopt;
    }
    text = text || word.find('c') != std::string::npos;
    if (word.back() == 'o') ++at;  // pipefail
  }
  if (at >= words.size()) return text ? std::optional<Child>() : Child{Child::What::kInput, at};
  return Child{text ? Child::What::kText : Child::What::kFile, at};
}

// Runs what a child shell runs, in a shell of its own. `passes`: it sees exported variables.
void ShellScript::RunChild(const ShellText& text, Words arguments, bool passes) {
  Subshell([&] {
    state_.KeepExported(passes);
    state_.arguments = std::move(arguments);
    state_.top_arguments = false;
    ++depth_;
    RunText(text, /*hard=*/false);
    --depth_;
    return ShellAnswer();
  });
}

// Runs a script that lies beside this one. Returns false if there is none.
bool ShellScript::RunFileBeside(const ShellText& name, Words arguments, bool passes) {
  const std::optional<std::string> path = PathBeside(name);
  if (!path.has_value() || BaseName(*path).find(".py") != std::string::npos) return false;
  const std::optional<std::string> text = read_beside_(*path);
  if (!text.has_value()) return false;
  if (session_.files.size() >= 64 || depth_ > 40) {
    Fail("scripts start each other without an end", name.empty() ? ShellChar() : name[0]);
    return true;
  }
  const auto file = static_cast<int16_t>(session_.files.size());
  const std::string folder = DirectoryOf(session_.files[0].name);
  session_.files.push_back({folder == "." ? *path : folder + "/" + *path, *text});
  RunChild(WithPlaces(*text, file), std::move(arguments), passes);
  return true;
}

// Shells that a command starts: sh -c "TEXT" NAME ARGUMENT..., sh FILE ARGUMENT..., perhaps after
// srun or docker; and a script itself: ./FILE ARGUMENT...
bool ShellScript::ChildShell(const Words& words) {
  const auto from = [&](size_t at) {
    return Words(words.begin() + static_cast<int64_t>(std::min(at, words.size())), words.end());
  };
  const std::string first = IsResolved(words[0]) ? BaseName(PlainText(words[0])) : "";
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!IsResolved(words[i]) || !kShells.contains(BaseName(PlainText(words[i])))) continue;
    const std::optional<Child> child = ChildOf(words, i + 1);
    if (!child.has_value() || child->what == Child::What::kInput) continue;
    const bool passes = std::all_of(words.begin(), words.begin() + static_cast<int64_t>(i),
                                    [](const ShellText& word) {
                                      return !PlainText(word).starts_with("--export");
                                    }) &&
                        kPassing.contains(first);
    if (child->what == Child::What::kText) {
      RunChild(words[child->at], from(child->at + 2), passes);
      return true;
    }
    if (RunFileBeside(words[child->at], from(child->at + 1), passes)) return true;
  }
  const std::string path = PlainText(words[0]);
  return path.ends_with(".sh") && RunFileBeside(words[0], from(1), /*passes=*/true);
}

// The scripts of a queue: sbatch [--OPTION=VALUE] FILE ARGUMENT..., sbatch --wrap "TEXT", and
// `sbatch <<EOF`, `bash <<EOF`, which read them. Returns false for other commands.
bool ShellScript::BatchScript(const Words& words, const ShellCommand& command) {
  const std::string name = IsResolved(words[0]) ? BaseName(PlainText(words[0])) : "";
  const bool shell = kShells.contains(name);
  if (name != "sbatch" && name != "qsub" && !shell) return false;
  const bool reads = std::any_of(
      command.redirections.begin(), command.redirections.end(),
      [](const ShellRedirection& r) { return r.input && r.kind != ShellRedirection::Kind::kFile; });
  if (shell) {
    const std::optional<Child> child = ChildOf(words, 1);
    if (!reads || !child.has_value() || child->what != Child::What::kInput) return false;
  }
  const std::optional<ShellText> input = Redirect(command);
  bool passes = name != "qsub";
  std::optional<size_t> wrap, file;
  for (size_t i = 1; i < words.size() && !file.has_value() && !shell; ++i) {
    const std::string word = PlainText(words[i]);
    if (word.starts_with("--export=") && word != "--export=ALL" &&
        !word.starts_with("--export=ALL,")) {
      passes = false;
    }
    if (word == "--wrap" && i + 1 < words.size())
      wrap = ++i;
    else if (word.starts_with("--wrap="))
      wrap = i;
    else if (!word.starts_with("-") && IsBatchFile(words[i]))
      file = i;
  }
  if (wrap.has_value()) {
    ShellText text = words[*wrap];
    if (PlainText(text).starts_with("--wrap=")) text.erase(text.begin(), text.begin() + 7);
    RunChild(text, {}, passes);
  } else if (file.has_value()) {
    RunFileBeside(words[*file], Words(words.begin() + static_cast<int64_t>(*file) + 1, words.end()),
                  passes);
  } else if (input.has_value()) {
    RunChild(*input, {}, passes);
  }
  return true;
}

// True for the word of an sbatch command that names its script: a value of an option such as
// "-p batch" names none that lies beside.
bool ShellScript::IsBatchFile(const ShellText& word) const {
  const std::optional<std::string> path = PathBeside(word);
  return path.has_value() && read_beside_(*path).has_value();
}

}  // namespace drydock
