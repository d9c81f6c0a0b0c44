#include "workload-gen/launch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/files.h"
#include "workload-gen/shell_arithmetic.h"
#include "workload-gen/shell_words.h"

namespace drydock {
namespace {

constexpr size_t kMaxText = size_t{4} << 20;
constexpr int kMaxNesting = 8;  // of sh -c "..."

using Words = std::vector<ShellText>;

// Words that begin or end what the shell runs under a condition, and those that only join.
const std::set<std::string> kOpening = {"if", "for", "while", "until", "case", "select"};
const std::set<std::string> kClosing = {"fi", "done", "esac"};
const std::set<std::string> kJoining = {"then", "else", "elif", "do", "{", "}", "!", "time"};
const std::set<std::string> kDeclaring = {"export", "declare", "local", "readonly", "typeset"};
const std::set<std::string> kShells = {"sh", "bash", "zsh"};

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

class ScriptReader {
 public:
  explicit ScriptReader(ShellVariables* variables) : variables_(*variables) {}

  void Run(const ShellText& text) { RunNested(text, 0); }
  std::vector<Command>& commands() { return commands_; }
  const std::vector<std::string>& nccl_settings() const { return nccl_settings_; }

 private:
  // One script's text and how far it is read.
  struct Cursor {
    const ShellText& text;
    size_t at = 0;
    std::vector<std::string> here_documents = {};

    bool Done() const { return at >= text.size(); }
    char Peek(size_t ahead = 0) const {
      return at + ahead < text.size() ? text[at + ahead].c : '\0';
    }
  };

  void RunNested(const ShellText& text, int depth) {
    if (depth > kMaxNesting) return;
    Cursor cursor{text};
    while (!cursor.Done() && !variables_.exhausted()) Statement(&cursor, depth);
  }

  static void SkipBlanks(Cursor* c) {
    while (c->Peek() == ' ' || c->Peek() == '\t' || (c->Peek() == '\\' && c->Peek(1) == '\n')) {
      c->at += c->Peek() == '\\' ? 2 : 1;
    }
  }

  static std::string TakeLine(Cursor* c) {
    std::string line;
    for (; !c->Done() && c->Peek() != '\n'; ++c->at) line += c->Peek();
    ++c->at;
    return line;
  }

  // Behind the end of a line: what the here-documents begun in it contain is no command.
  static void EndLine(Cursor* c) {
    ++c->at;
    for (const std::string& end : c->here_documents) {
      while (!c->Done()) {
        const std::string line = TakeLine(c);
        if (line.substr(std::min(line.size(), line.find_first_not_of('\t'))) == end) break;
      }
    }
    c->here_documents.clear();
  }

  // "> file", "2>&1", "<<END": none of it is an argument.
  void Redirection(Cursor* c, Words* words) {
    const bool here = c->Peek() == '<' && c->Peek(1) == '<' && c->Peek(2) != '<';
    if (!words->empty() && c->at > 0 && IsNameCharacter(c->text[c->at - 1].c) &&
        WholeNumber(PlainText(words->back())).has_value()) {
      words->pop_back();
    }
    while (c->Peek() == '<' || c->Peek() == '>' || c->Peek() == '&' || c->Peek() == '|') ++c->at;
    if (here && c->Peek() == '-') ++c->at;
    SkipBlanks(c);
    const Words target = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/false);
    if (here && !target.empty()) c->here_documents.push_back(PlainText(target.front()));
  }

  // NAME=value, NAME+=value, NAME=(values) at the cursor; false if there is none.
  bool Assignment(Cursor* c) {
    size_t end = c->at;
    std::string name;
    for (; end < c->text.size() && IsNameCharacter(c->text[end].c); ++end) {
      name += c->text[end].c;
    }
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    const bool append = end < c->text.size() && c->text[end].c == '+';
    if (append) ++end;
    if (end >= c->text.size() || c->text[end].c != '=') return false;
    c->at = end + 1;
    Assign(name, c->Peek() == '(' ? Array(c) : Scalar(c), append);
    return true;
  }

  Words Scalar(Cursor* c) {
    Words value = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/false);
    if (value.empty()) value.emplace_back();
    return value;
  }

  Words Array(Cursor* c) {
    Words values;
    ++c->at;
    while (!c->Done() && c->Peek() != ')') {
      SkipBlanks(c);
      if (c->Peek() == '#') {
        TakeLine(c);
      } else if (IsShellOperator(c->Peek()) && c->Peek() != ')') {
        ++c->at;
      } else if (c->Peek() != ')') {
        const Words words = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/true);
        values.insert(values.end(), words.begin(), words.end());
      }
    }
    ++c->at;
    return values;
  }

  void Assign(const std::string& name, Words value, bool append) {
    if (name.starts_with("NCCL_")) nccl_settings_.push_back(name);
    if (conditions_ > 0) {
      variables_.Forget(name, "$" + name + ", which is assigned under a condition");
      return;
    }
    // A scalar is appended to as text, an array by elements.
    const std::vector<ShellText>* old = variables_.Find(name);
    if (append && old != nullptr && old->size() == 1 && value.size() == 1) {
      ShellText joined = old->front();
      joined.insert(joined.end(), value.front().begin(), value.front().end());
      value = {joined};
      append = false;
    }
    variables_.Assign(name, value, append);
  }

  // Up to the next separator.
  void Statement(Cursor* c, int depth) {
    Words words;
    bool declaring = false;
    while (!c->Done()) {
      SkipBlanks(c);
      const char next = c->Peek();
      if (next == '#') {
        while (!c->Done() && c->Peek() != '\n') ++c->at;
      } else if (next == '\n') {
        EndLine(c);
        break;
      } else if (next == '<' || next == '>') {
        Redirection(c, &words);
      } else if (IsShellOperator(next)) {
        ++c->at;
        break;
      } else if ((words.empty() || declaring) && Assignment(c)) {
        continue;
      } else {
        TakeWords(c, &words, &declaring);
      }
    }
    Execute(words, depth);
  }

  void TakeWords(Cursor* c, Words* words, bool* declaring) {
    const size_t begin = c->at;
    const Words more = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/true);
    if (c->at == begin) ++c->at;
    const std::string first = words->empty() && more.size() == 1 ? PlainText(more[0]) : "";
    if (kOpening.contains(first)) {
      ++conditions_;
    } else if (kClosing.contains(first)) {
      conditions_ = std::max(0, conditions_ - 1);
    } else if (!kJoining.contains(first)) {
      *declaring = *declaring || kDeclaring.contains(first);
      words->insert(words->end(), more.begin(), more.end());
    }
  }

  void Execute(const Words& words, int depth) {
    if (words.empty()) return;
    if (PlainText(words[0]) == "eval") {
      ShellText joined;
      for (size_t i = 1; i < words.size(); ++i) {
        joined.insert(joined.end(), words[i].begin(), words[i].end());
        joined.push_back({' ', 0, 0, -1});
      }
      return RunNested(joined, depth + 1);
    }
    for (size_t i = 0; i + 2 < words.size(); ++i) {
      const std::string flag = PlainText(words[i + 1]);
      if (kShells.contains(BaseName(PlainText(words[i]))) && (flag == "-c" || flag == "-lc")) {
        return RunNested(words[i + 2], depth + 1);
      }
    }
    FindCommand(words);
  }

  // A Python file behind something that starts it, or behind a variable that is not known.
  void FindCommand(const Words& words) {
    bool started = false;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string word = PlainText(words[i]);
      if (started && EndsWith(word, ".py")) {
        const auto at = words.begin() + static_cast<int64_t>(i);
        commands_.push_back({words[i], Words(words.begin(), at), Words(at + 1, words.end())});
        return;
      }
      started = started || IsLauncher(word) || !IsResolved(words[i]);
    }
  }

  ShellVariables& variables_;
  int conditions_ = 0;
  std::vector<Command> commands_;
  std::vector<std::string> nccl_settings_;
};

// Turns shell words into what callers see: text, place, and what is not known of it.
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

// The number behind one of the launcher's options, "--nnodes 4" or "--nnodes=4".
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

// The only command, or the only one that is called a training.
Result<size_t> ChooseCommand(const std::vector<Command>& commands, const WordMaker& maker,
                             const std::string& file_name) {
  std::vector<size_t> training;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands.size() == 1 || IsTraining(commands[i])) training.push_back(i);
  }
  if (training.size() == 1) return training[0];
  if (training.empty()) {
    return Error(
        "no training command: expected torchrun, python or deepspeed and a Python file, or a file "
        "of arguments that begins with '--'",
        {file_name, 0, 0});
  }
  const ScriptWord first = maker.Make(commands[training[0]].script);
  return maker.Make(commands[training[1]].script)
      .ErrorHere(fmt::format("a second training command; the first is in line {}; keep one",
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

}  // namespace

Result<LaunchLine> ReadLaunchScript(const std::string& text, const std::string& file_name,
                                    const std::map<std::string, std::string>& given) {
  if (text.size() > kMaxText || !IsText(text)) {
    return Error("no launch script: more than 4 MiB, or not text", {file_name, 0, 0});
  }
  ShellVariables variables;
  for (const auto& [name, value] : given) variables.Fix(name, value);
  const ShellText characters = WithPlaces(text);
  const WordMaker maker(text, file_name, &variables);
  LaunchLine line;
  if (IsBareList(characters)) {
    line.arguments = maker.MakeAll(ReadBareList(characters, &variables));
  } else {
    ScriptReader reader(&variables);
    reader.Run(characters);
    if (variables.exhausted()) return TooMuch(file_name);
    ASSIGN_OR_RETURN(const size_t chosen, ChooseCommand(reader.commands(), maker, file_name));
    const Command& command = reader.commands()[chosen];
    line.script = maker.Make(command.script);
    line.arguments = maker.MakeAll(command.arguments);
    line.gpus = GpusOf(command.launcher);
    line.nccl_settings = reader.nccl_settings();
  }
  if (variables.exhausted()) return TooMuch(file_name);
  return line;
}

}  // namespace drydock
