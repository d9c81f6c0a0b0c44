#include "workload-gen/import/shell/launch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/files.h"
#include "core/base/scan.h"
#include "workload-gen/import/shell/shell_script.h"
#include "workload-gen/import/shell/shell_words.h"

namespace drydock {
namespace {

constexpr size_t kMaxText = size_t{4} << 20;
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
  Words launcher;
  Words arguments;
};

// Returns the command if it has a Python file after a launcher or after an unknown variable.
std::optional<Command> PythonCommand(const Words& words) {
  if (kNotLaunching.contains(PlainText(words[0]))) return std::nullopt;
  bool started = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = PlainText(words[i]);
    if (started && EndsWith(word, ".py")) {
      const auto at = words.begin() + static_cast<int64_t>(i);
      return Command{words[i], Words(words.begin(), at), Words(at + 1, words.end())};
    }
    started = started || IsLauncher(word) || !IsResolved(words[i]);
  }
  return std::nullopt;
}

// Turns shell words into ScriptWords: text, place, and the unknown part.
class WordMaker {
 public:
  WordMaker(const std::string& text, std::string file_name, const ShellVariables* variables)
      : file_name_(std::move(file_name)), variables_(*variables) {
    lines_.emplace_back();
    for (const char c : text) {
      if (c == '\n')
        lines_.emplace_back();
      else if (c != '\r')
        lines_.back() += c;
    }
  }

  ScriptWord Make(const ShellText& text) const {
    ScriptWord word;
    word.text = PlainText(text);
    word.location.file = file_name_;
    for (const ShellChar& c : text) {
      if (c.unresolved >= 0 && word.unresolved.empty()) word.unresolved = variables_.NameOf(c);
      if (word.location.line == 0 && c.line > 0) {
        word.location.line = c.line;
        word.location.column = c.column;
      }
    }
    const auto line = static_cast<size_t>(word.location.line);
    if (line >= 1 && line <= lines_.size()) word.source_line = lines_[line - 1];
    return word;
  }

  std::vector<ScriptWord> MakeAll(const Words& words) const {
    std::vector<ScriptWord> out;
    for (const ShellText& word : words) out.push_back(Make(word));
    return out;
  }

 private:
  std::string file_name_;
  const ShellVariables& variables_;
  std::vector<std::string> lines_;
};

// Returns the value of an option of the launcher: "--nnodes 4" or "--nnodes=4".
std::optional<int64_t> LauncherNumber(const Words& words, const std::set<std::string>& names) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = PlainText(words[i]);
    const size_t equals = word.find('=');
    if (!names.contains(word.substr(0, equals))) continue;
    if (equals != std::string::npos) return WholeNumber(word.substr(equals + 1));
    if (i + 1 < words.size()) return WholeNumber(PlainText(words[i + 1]));
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

bool IsTraining(const Command& command) {
  const std::string name = BaseName(PlainText(command.script));
  return name.starts_with("pretrain") || name.starts_with("train");
}

// Returns the only command, or the only one whose file is named like a training script.
Result<size_t> ChooseCommand(const std::vector<Command>& commands, const WordMaker& maker,
                             const std::string& file_name) {
  std::vector<size_t> training;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands.size() == 1 || IsTraining(commands[i])) training.push_back(i);
  }
  if (training.size() == 1) return training[0];
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
  return Error("the script's variables expand to more than 4 MiB", {file_name, 0, 0});
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

Words ReadBareList(const ShellText& text, ShellVariables* variables) {
  Words words;
  for (size_t at = 0; at < text.size();) {
    if (text[at].c == '#') {
      while (at < text.size() && text[at].c != '\n') ++at;
      continue;
    }
    const size_t begin = at;
    const Words more = ShellWordReader(text, &at, variables).Read(/*split=*/true);
    if (at == begin) ++at;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
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

std::map<std::string, std::string> EngineSettings(const ShellVariables& variables) {
  std::map<std::string, std::string> found;
  for (const char* name : kEngineSettings) {
    const Words* value = variables.Find(name);
    if (value == nullptr) continue;
    found[name] = value->size() == 1 && IsResolved(value->front()) ? PlainText(value->front()) : "";
  }
  return found;
}

}  // namespace

Result<LaunchLine> ReadLaunchScript(const std::string& text, const std::string& file_name,
                                    const std::map<std::string, std::string>& given) {
  if (text.size() > kMaxText || !IsText(text)) {
    return Error("not a launch script: the file is larger than 4 MiB or is not text",
                 {file_name, 0, 0});
  }
  ShellVariables variables;
  for (const auto& [name, value] : given) variables.Fix(name, value);
  const ShellText characters = WithPlaces(text);
  const WordMaker maker(text, file_name, &variables);
  LaunchLine line;
  if (IsBareList(characters)) {
    line.arguments = maker.MakeAll(ReadBareList(characters, &variables));
  } else {
    std::vector<Command> commands;
    ShellScript script(&variables, [&commands](const Words& words) {
      std::optional<Command> command = PythonCommand(words);
      if (command.has_value()) commands.push_back(*std::move(command));
    });
    script.Run(characters);
    if (variables.exhausted()) return TooMuch(file_name);
    ASSIGN_OR_RETURN(const size_t chosen, ChooseCommand(commands, maker, file_name));
    const Command& command = commands[chosen];
    line.script = maker.Make(command.script);
    line.arguments = maker.MakeAll(command.arguments);
    line.gpus = GpusOf(command.launcher);
    for (const std::string& name : script.assigned()) {
      if (name.starts_with("NCCL_")) line.nccl_settings.push_back(name);
    }
    const std::vector<ShellText>* workspace = variables.Find("CUBLAS_WORKSPACE_CONFIG");
    if (workspace != nullptr && !workspace->empty()) {
      line.cublas_workspace = maker.Make(workspace->front());
    }
  }
  if (variables.exhausted()) return TooMuch(file_name);
  line.engine_settings = EngineSettings(variables);
  return line;
}

}  // namespace drydock
