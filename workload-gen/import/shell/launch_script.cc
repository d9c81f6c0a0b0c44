#include "workload-gen/import/shell/launch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>

#include "core/base/files.h"
#include "core/base/scan.h"
#include "workload-gen/import/shell/shell_script.h"

namespace drydock {
namespace {

constexpr size_t kMaxText = size_t{4} << 20;
constexpr size_t kMaxScanned = size_t{1} << 17;  // for the script's own variables
using Words = std::vector<ShellText>;

// Commands that name other commands without starting them.
const std::set<std::string> kNotLaunching = {"echo", "printf", "cat",   "ls", "cp",  "mv",
                                             "rm",   "grep",   "mkdir", "cd", "set", "test"};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool IsLauncher(const std::string& word) {
  const std::string name = BaseName(word);
  return name.starts_with("python") || name == "torchrun" || name == "deepspeed";
}

struct Command {
  ShellText script;
  bool known = true;  // the name of the Python file
  Words launcher;
  Words arguments;
  ShellState state;  // in which it starts
};

// Returns the command if it has a Python file after a launcher or after an unknown variable.
std::optional<Command> PythonCommand(const Words& words, const ShellState& state) {
  if (words.empty() || kNotLaunching.contains(PlainText(words[0]))) return std::nullopt;
  const auto command = [&](size_t i, bool known) {
    const auto at = words.begin() + static_cast<int64_t>(i);
    return Command{words[i], known, Words(words.begin(), at), Words(at + 1, words.end()), state};
  };
  bool launched = false, started = false;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = PlainText(words[i]);
    if (started && EndsWith(word, ".py")) {
      return command(i, words[i].back().unresolved < 0 && BaseName(word) != ".py");
    }
    const std::string before = i == 0 ? "" : PlainText(words[i - 1]);
    const bool value = before.starts_with("-") && before.find('=') == std::string::npos;
    if (launched && !value && !IsResolved(words[i]) && !unknown.has_value()) unknown = i;
    if (launched && (word == "-c" || word == "-" || (before == "-m" && word == "pip"))) break;
    launched = launched || IsLauncher(word);
    started = started || launched || !IsResolved(words[i]);
  }
  // "torchrun $SCRIPT"
  return launched && unknown.has_value() ? std::optional<Command>(command(*unknown, false))
                                         : std::nullopt;
}

// Returns the script that a command starts, "bash FILE" or "./FILE.sh". It does not lie beside this
// one: otherwise it is followed.
std::optional<ShellText> StartedScript(const Words& words) {
  if (words.empty()) return std::nullopt;
  const auto names_script = [](const ShellText& word) { return EndsWith(PlainText(word), ".sh"); };
  if (names_script(words[0])) return words[0];
  const std::string name = BaseName(PlainText(words[0]));
  if (name != "bash" && name != "sh") return std::nullopt;
  const auto script = std::find_if(words.begin() + 1, words.end(), names_script);
  return script == words.end() ? std::optional<ShellText>() : *script;
}

// True if all words are the same, as in a loop that starts the training again.
bool SameCommand(const Command& a, const Command& b) {
  const ShellSession& session = a.state.session();
  const auto same_char = [&](const ShellChar& x, const ShellChar& y) {
    if (x.unresolved < 0 || y.unresolved < 0) return x.c == y.c && x.unresolved == y.unresolved;
    const ShellUnknown &one = session.Of(x), &other = session.Of(y);
    return one.what == other.what && one.why == other.why;
  };
  const auto same_word = [&](const ShellText& x, const ShellText& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_char);
  };
  const auto same = [&](const Words& x, const Words& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_word);
  };
  return same_word(a.script, b.script) && same(a.launcher, b.launcher) &&
         same(a.arguments, b.arguments);
}

// Turns shell words into ScriptWords: text, place, and the unknown part.
class WordMaker {
 public:
  explicit WordMaker(const ShellSession& session) : session_(session) {
    for (const ShellSession::File& file : session.files) {
      std::vector<std::string>& lines = lines_.emplace_back(1);
      for (const char c : file.text) {
        if (c == '\n')
          lines.emplace_back();
        else if (c != '\r')
          lines.back() += c;
      }
    }
  }

  ScriptWord Make(const ShellText& text) const {
    ScriptWord word;
    word.text = PlainText(text);
    word.wide = IsWide(text);
    size_t known = 0;
    int16_t file = 0;
    for (const ShellChar& c : text) {
      if (c.unresolved < 0) {
        ++known;
      } else if (word.unresolved.empty()) {
        const ShellUnknown& unknown = session_.Of(c);
        word.unresolved = unknown.what;
        word.why = unknown.why;
        word.variable = unknown.variable;
        word.not_assigned = unknown.kind == ShellUnknown::Kind::kNotAssigned;
        word.known = known;
        // The place where it became unknown.
        if (unknown.at.line > 0 && !unknown.why.empty()) {
          word.location.line = unknown.at.line;
          word.location.column = unknown.at.column;
          file = unknown.at.file;
        }
      }
    }
    for (const ShellChar& c : text) {
      if (word.location.line > 0 || c.line == 0) continue;
      word.location.line = c.line;
      word.location.column = c.column;
      file = c.file;
    }
    Place(file, &word.location, &word.source_line);
    return word;
  }

  std::vector<ScriptWord> MakeAll(const Words& words) const {
    std::vector<ScriptWord> out;
    for (const ShellText& word : words) out.push_back(Make(word));
    return out;
  }

  Error ErrorAt(const ShellFailure& failure) const {
    Location location;
    std::string source_line;
    location.line = failure.at.line;
    location.column = failure.at.column;
    Place(failure.at.file, &location, &source_line);
    return Error(failure.message, location, source_line);
  }

 private:
  void Place(int16_t file, Location* location, std::string* source_line) const {
    const std::vector<std::string>& lines = lines_[static_cast<size_t>(file)];
    location->file = session_.files[static_cast<size_t>(file)].name;
    const auto line = static_cast<size_t>(location->line);
    if (line >= 1 && line <= lines.size()) *source_line = lines[line - 1];
  }

  const ShellSession& session_;
  std::vector<std::vector<std::string>> lines_;  // of each file
};

// Returns the value of an option of the launcher: "--nnodes 4" or "--nnodes=4".
std::optional<int64_t> LauncherNumber(const Words& words, const std::set<std::string>& names) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = PlainText(words[i]);
    const size_t equals = word.find('=');
    if (!names.contains(word.substr(0, equals))) continue;
    if (!IsResolved(words[i])) return std::nullopt;
    if (equals != std::string::npos) return WholeNumber(word.substr(equals + 1));
    if (i + 1 < words.size() && IsResolved(words[i + 1])) {
      return WholeNumber(PlainText(words[i + 1]));
    }
    return std::nullopt;
  }
  return std::nullopt;
}

int64_t GpusOf(const Words& launcher) {
  const auto each =
      LauncherNumber(launcher, {"--nproc_per_node", "--nproc-per-node", "--num_gpus"});
  const auto nodes = LauncherNumber(launcher, {"--nnodes", "--num_nodes"});
  if (!each.has_value() || !nodes.has_value()) return 0;
  const bool sane = *each >= 1 && *each <= 1 << 16 && *nodes >= 1 && *nodes <= 1 << 24;
  return sane ? *each * *nodes : 0;
}

// xargs adds words that it reads.
void AddReadWords(Command* command) {
  const std::string first = BaseName(PlainText(command->launcher[0]));
  if (first != "xargs" && first != "parallel") return;
  const ShellChar& at = command->script[0];
  ShellSession& session = command->state.session();
  ShellText more = session.Text(
      session.Add({first, "it adds arguments that it reads", "", ShellUnknown::Kind::kOther, at}),
      at);
  more[0].wide = true;
  command->arguments.push_back(std::move(more));
}

std::vector<Command> CommandsOf(const ShellScript& script) {
  std::vector<Command> commands;
  for (const ShellScript::Started& started : script.started()) {
    std::optional<Command> command = PythonCommand(started.words, started.state);
    if (!command.has_value()) continue;
    AddReadWords(&*command);
    const bool again = std::any_of(commands.begin(), commands.end(), [&](const Command& other) {
      return SameCommand(*command, other);
    });
    if (!again) commands.push_back(*command);
  }
  return commands;
}

bool IsTraining(const Command& command) {
  const std::string name = BaseName(PlainText(command.script));
  return command.known && (name.starts_with("pretrain") || name.starts_with("train"));
}

// Returns the only command, or the only one whose file is named like a training script.
Result<size_t> ChooseCommand(const std::vector<Command>& commands, const WordMaker& maker,
                             const std::string& file_name) {
  std::vector<size_t> training, named;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].known) named.push_back(i);
    if (IsTraining(commands[i])) training.push_back(i);
  }
  if (training.empty() && named.size() == commands.size() && named.size() == 1) training = named;
  if (training.size() == 1) return training[0];
  for (const Command& command : commands) {
    if (command.known || !training.empty()) continue;
    const ScriptWord word = maker.Make(command.script);
    return word.ErrorHere("the Python file of this command is not known: " + word.Unknown());
  }
  if (training.empty() && !named.empty()) {
    const ScriptWord first = maker.Make(commands[named[0]].script);
    return maker.Make(commands[named[1]].script)
        .ErrorHere(fmt::format("which command trains is not known: the one in line {} and this one "
                               "start Python files, and neither is named train... or pretrain...; "
                               "remove one",
                               first.location.line));
  }
  if (training.empty()) {
    return Error(
        "no training command; expected torchrun, python or deepspeed and a Python file, or a file "
        "of arguments that begins with '--'",
        {file_name, 0, 0});
  }
  const ScriptWord first = maker.Make(commands[training[0]].script);
  return maker.Make(commands[training[1]].script)
      .ErrorHere(fmt::format("a second training command; the first is in line {}; remove one",
                             first.location.line));
}

Error TooMuch(const std::string& file_name) {
  return Error("the script's variables expand to more than 4 MiB, or its loops run too often",
               {file_name, 0, 0});
}

bool IsText(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' || c == '\r';
  });
}

bool IsBareList(const ShellText& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i].c == '#') {
      while (i < text.size() && text[i].c != '\n') ++i;
    } else if (text[i].c != ' ' && text[i].c != '\t' && text[i].c != '\n') {
      return text[i].c == '-';
    }
  }
  return false;
}

constexpr const char* kEngineSettings[] = {
    "NVTE_FLASH_ATTN",
    "NVTE_FUSED_ATTN",
    "NVTE_UNFUSED_ATTN",
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO",
    "NVTE_NVFP4_DISABLE_RHT",
    "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING",
    "NVTE_NVFP4_DISABLE_2D_QUANTIZATION",
    "NVTE_NVFP4_ROW_SCALED_ACTIVATION",
    "NVTE_NVFP4_4OVER6",
    "NVTE_DP_AMAX_REDUCE_INTERVAL",
    "NVTE_CUTEDSL_FUSED_GROUPED_MLP",
};

// Returns the value of a variable that the training command sees, if it is set.
std::optional<ShellText> Environment(const ShellState& state, const std::string& name) {
  const ShellVariable* variable = state.Find(name);
  if (variable == nullptr || !variable->exported) return std::nullopt;
  if (variable->unknown >= 0) return state.session().Text(variable->unknown, {});
  if (!variable->is_set || variable->text() == nullptr) return std::nullopt;
  return *variable->text();
}

std::map<std::string, std::string> EngineSettings(const ShellState& state) {
  std::map<std::string, std::string> found;
  for (const char* name : kEngineSettings) {
    const std::optional<ShellText> value = Environment(state, name);
    if (value.has_value()) found[name] = IsResolved(*value) ? PlainText(*value) : "";
  }
  return found;
}

std::vector<std::string> NcclSettings(const ShellState& state) {
  std::vector<std::string> names;
  for (const std::string& name : state.Names()) {
    const ShellVariable* variable = state.Find(name);
    if (name.starts_with("NCCL_") && variable->is_set && !variable->fixed) names.push_back(name);
  }
  return names;
}

// Reads a file that lies beside the script. A script names files from the folder in which it is
// started: where that is another one with another file of that name, nothing is certain.
std::optional<std::string> ReadBeside(const std::string& file_name, const std::string& path) {
  constexpr size_t kMaxFile = size_t{1} << 20;
  const auto read = [](const std::string& name) -> std::optional<std::string> {
    std::error_code error;
    if (!std::filesystem::is_regular_file(name, error)) return std::nullopt;
    if (std::filesystem::file_size(name, error) > kMaxFile || error) return std::nullopt;
    const Result<std::string> text = ReadFile(name);
    return text.ok() && IsText(*text) ? std::optional<std::string>(*text) : std::nullopt;
  };
  const std::optional<std::string> beside = read(DirectoryOf(file_name) + "/" + path);
  const std::optional<std::string> here = read(path);
  if (here.has_value() && here != beside) return std::nullopt;
  return beside;
}

// The variables that a line of the script assigns, on whatever path, with the first such line.
std::map<std::string, int32_t> AssignedVariables(const std::string& text) {
  static const std::regex kAssigned(
      "(?:^|[\\n;&()]|\\b(?:then|else|do|export|local|declare|readonly|typeset)[ \\t])[ \\t]*"
      "([A-Za-z_][A-Za-z0-9_]*)\\+?=");
  std::map<std::string, int32_t> lines;
  int32_t line = 1;
  auto counted = text.begin();
  for (std::sregex_iterator match(text.begin(), text.end(), kAssigned), end; match != end;
       ++match) {
    const auto name = text.begin() + match->position(1);
    line += static_cast<int32_t>(std::count(counted, name, '\n'));
    counted = name;
    lines.emplace((*match)[1].str(), line);
  }
  return lines;
}

// The variables that are the script's own: it assigns them, perhaps on another path than the one
// that runs, and never asks whether its caller has set them. Where it has not assigned one, it is
// empty.
std::set<std::string> OwnVariables(const std::string& text,
                                   const std::map<std::string, int32_t>& assigned) {
  static const std::regex kAsked(
      "\\$\\{([A-Za-z_][A-Za-z0-9_]*):?[-=?+]|"
      "-[znv][ \\t]+[\"']?\\$?\\{?([A-Za-z_][A-Za-z0-9_]*)");
  static const std::regex kItself("([A-Za-z_][A-Za-z0-9_]*)=[^\\n]*\\$\\{?\\1(?![A-Za-z0-9_])");
  static const std::set<std::string> kOfSystem = {"PATH",     "HOME", "PWD",   "USER",
                                                  "HOSTNAME", "IFS",  "TMPDIR"};
  std::set<std::string> names;
  for (const auto& [name, line] : assigned) {
    if (!kOfSystem.contains(name)) names.insert(name);
  }
  for (const std::regex* pattern : {&kAsked, &kItself}) {
    for (std::sregex_iterator match(text.begin(), text.end(), *pattern), end; match != end;
         ++match) {
      for (size_t i = 1; i < match->size(); ++i) names.erase((*match)[i].str());
    }
  }
  return names;
}

// Those of `names` that the script reads and has not assigned where the command runs.
std::vector<std::string> EmptyOnes(const std::set<std::string>& names, const std::string& text,
                                   const ShellState& state) {
  std::vector<std::string> empty;
  for (const std::string& name : names) {
    const ShellVariable* variable = state.Find(name);
    const bool set = variable != nullptr && (variable->is_set || variable->unknown >= 0);
    const std::regex read("\\$\\{?" + name + "(?![A-Za-z0-9_])");
    if (!set && std::regex_search(text, read)) empty.push_back(name);
  }
  return empty;
}

Result<LaunchLine> ReadBareList(const ShellText& text, ShellState state) {
  state.no_globs = true;
  ShellParser parser(text);
  const std::vector<ShellWord> words = parser.AllWords();
  const WordMaker maker(state.session());
  if (parser.failure().has_value()) return maker.ErrorAt(*parser.failure());
  ShellExpander expander(&state);
  LaunchLine line;
  const Words fields = expander.AllFields(words);
  if (expander.mistake().has_value()) {
    return maker.ErrorAt({expander.mistake()->message, expander.mistake()->at});
  }
  line.arguments = maker.MakeAll(fields);
  for (const char* name : kEngineSettings) {
    const std::optional<ShellText> value = Environment(state, name);
    if (value.has_value()) line.engine_settings[name] = PlainText(*value);
  }
  return line;
}

}  // namespace

bool IsEngineSetting(const std::string& name) {
  return std::find(std::begin(kEngineSettings), std::end(kEngineSettings), name) !=
         std::end(kEngineSettings);
}

std::string ScriptWord::Unknown() const {
  const std::string reason = why.empty() ? "the script does not assign it" : why;
  const std::string remedy = variable.empty()
                                 ? "write its value into the script"
                                 : fmt::format("give it with --variable {}=VALUE", variable);
  return fmt::format("{} is not known: {}; {}", unresolved, reason, remedy);
}

Result<LaunchLine> ReadLaunchScript(const std::string& text, const std::string& file_name,
                                    const std::map<std::string, std::string>& given) {
  if (text.size() > kMaxText || !IsText(text)) {
    return Error("not a launch script: the file is larger than 4 MiB or is not text",
                 {file_name, 0, 0});
  }
  ShellSession session;
  session.files.push_back({file_name, text});
  ShellState state(&session);
  for (const auto& [name, value] : given) state.Fix(name, value);
  const ShellText characters = WithPlaces(text);
  if (IsBareList(characters)) {
    Result<LaunchLine> line = ReadBareList(characters, std::move(state));
    if (session.exhausted()) return TooMuch(file_name);
    return line;
  }
  const ShellState initial = state;
  std::set<std::string> own;
  if (text.size() <= kMaxScanned) {
    session.assigned_lines = AssignedVariables(text);
    own = OwnVariables(text, session.assigned_lines);
    for (const auto& [name, value] : given) own.erase(name);
    for (const std::string& name : own) state.Unset(name);
  }
  std::optional<ShellText> elsewhere;
  ShellScript script(
      std::move(state),
      [&](const Words& words) {
        if (!elsewhere.has_value()) elsewhere = StartedScript(words);
        return PythonCommand(words, initial).has_value();
      },
      [&](const std::string& path) { return ReadBeside(file_name, path); });
  const std::optional<ShellFailure> failure = script.Run(characters);
  if (session.exhausted()) return TooMuch(file_name);
  const WordMaker maker(session);
  if (failure.has_value()) return maker.ErrorAt(*failure);
  const std::vector<Command> commands = CommandsOf(script);
  if (commands.empty() && elsewhere.has_value()) {
    const ScriptWord started = maker.Make(*elsewhere);
    return started.ErrorHere(
        fmt::format("no training command: this line starts '{}', which does not lie beside this "
                    "script; give that script, or a copy beside this one",
                    started.text));
  }
  if (commands.empty() && script.end().has_value()) {
    return maker.ErrorAt(
        {"no training command: without further values, the script ends here; give "
         "what the condition of this line needs with --variable NAME=VALUE, and "
         "arguments with --variable 1=VALUE",
         *script.end()});
  }
  ASSIGN_OR_RETURN(const size_t chosen, ChooseCommand(commands, maker, file_name));
  const Command& command = commands[chosen];
  LaunchLine line;
  line.script = maker.Make(command.script);
  line.arguments = maker.MakeAll(command.arguments);
  line.gpus = GpusOf(command.launcher);
  for (const auto& [number, name] : session.missing_arguments()) {
    line.missing_arguments.push_back(name.empty() ? fmt::format("${}", number)
                                                  : fmt::format("${} ({})", number, name));
  }
  line.empty_variables = EmptyOnes(own, text, command.state);
  line.nccl_settings = NcclSettings(command.state);
  const std::optional<ShellText> workspace = Environment(command.state, "CUBLAS_WORKSPACE_CONFIG");
  if (workspace.has_value()) line.cublas_workspace = maker.Make(*workspace);
  line.engine_settings = EngineSettings(command.state);
  return line;
}

}  // namespace drydock
