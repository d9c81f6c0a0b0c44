#include "workload-gen/import/shell/shell_script.h"

#include <algorithm>
#include <set>

#include "core/base/files.h"
#include "core/base/scan.h"

namespace drydock {
namespace {

constexpr int kMaxNesting = 8;       // of sh -c "..."
constexpr size_t kMaxBlocks = 1000;  // nested

const std::set<std::string> kLoops = {"for", "while", "until", "case", "select"};
const std::set<std::string> kJoining = {"do", "{", "}", "time"};
const std::set<std::string> kDeclaring = {"export", "declare", "local", "readonly", "typeset"};
const std::set<std::string> kShells = {"sh", "bash", "zsh"};

void SkipBlanks(const ShellText& text, size_t* at) {
  const auto peek = [&](size_t i) { return i < text.size() ? text[i].c : '\0'; };
  while (peek(*at) == ' ' || peek(*at) == '\t' || (peek(*at) == '\\' && peek(*at + 1) == '\n')) {
    *at += peek(*at) == '\\' ? 2 : 1;
  }
}

std::string TakeLine(const ShellText& text, size_t* at) {
  std::string line;
  for (; *at < text.size() && text[*at].c != '\n'; ++*at) line += text[*at].c;
  ++*at;
  return line;
}

}  // namespace

void ShellScript::RunNested(const ShellText& text, int depth) {
  if (depth > kMaxNesting) return;
  Cursor cursor{text};
  while (!cursor.Done() && !variables_.exhausted()) Statement(&cursor, depth);
}

// Returns whether the current command runs, according to all enclosing blocks and its list.
ShellTruth ShellScript::Runs() const {
  ShellTruth runs = list_runs_;
  for (const Block& block : blocks_) runs = And(runs, block.runs);
  return runs;
}

// Reads up to the next separator.
void ShellScript::Statement(Cursor* c, int depth) {
  Words words;
  bool declaring = false;
  while (!c->Done()) {
    SkipBlanks(c->text, &c->at);
    const char next = c->Peek();
    if (next == '#') {
      while (!c->Done() && c->Peek() != '\n') ++c->at;
    } else if (IsShellOperator(next)) {
      // Inside [[ ... ]], && and || are words.
      const bool test = !words.empty() && PlainText(words[0]) == "[[" &&
                        PlainText(words.back()) != "]]" && next != '\n' && next != ';';
      if (test) {
        ShellText sign;
        while (IsShellOperator(c->Peek()) && c->Peek() != '\n') sign.push_back(c->text[c->at++]);
        words.push_back(sign);
      } else if (next == '<' || next == '>') {
        Redirection(c, &words);
      } else {
        Execute(words, depth);
        TakeOperator(c);
        return;
      }
    } else if ((words.empty() || declaring) && Assignment(c)) {
      continue;
    } else {
      TakeWords(c, &words, &declaring);
    }
  }
  Execute(words, depth);
}

// Handles ; & | && || and line breaks, which determine whether the next command runs.
void ShellScript::TakeOperator(Cursor* c) {
  const char first = c->Peek();
  const bool twice = c->Peek(1) == first;
  if (twice && (first == '&' || first == '|')) {
    list_runs_ = first == '&' ? list_ : Not(list_);
    c->at += 2;
    return;
  }
  ++c->at;
  if (first == '|') return;  // the next command of a pipeline runs if this command runs
  list_ = list_runs_ = ShellTruth::kTrue;
  if (first != '\n') return;
  // The text of here-documents that begin in this line has no commands.
  for (const std::string& end : c->here_documents) {
    while (!c->Done()) {
      const std::string line = TakeLine(c->text, &c->at);
      if (line.substr(std::min(line.size(), line.find_first_not_of('\t'))) == end) break;
    }
  }
  c->here_documents.clear();
}

// Skips redirections: "> file", "2>&1", "<<END".
void ShellScript::Redirection(Cursor* c, Words* words) {
  const bool here = c->Peek() == '<' && c->Peek(1) == '<' && c->Peek(2) != '<';
  if (!words->empty() && c->at > 0 && IsNameCharacter(c->text[c->at - 1].c) &&
      WholeNumber(PlainText(words->back())).has_value()) {
    words->pop_back();
  }
  while (c->Peek() == '<' || c->Peek() == '>' || c->Peek() == '&' || c->Peek() == '|') ++c->at;
  if (here && c->Peek() == '-') ++c->at;
  SkipBlanks(c->text, &c->at);
  const Words target = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/false);
  if (here && !target.empty()) c->here_documents.push_back(PlainText(target.front()));
}

// Reads NAME=value, NAME+=value or NAME=(values) at the cursor; returns false if there is none.
bool ShellScript::Assignment(Cursor* c) {
  size_t end = c->at;
  std::string name;
  for (; end < c->text.size() && IsNameCharacter(c->text[end].c); ++end) name += c->text[end].c;
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  const bool append = end < c->text.size() && c->text[end].c == '+';
  if (append) ++end;
  if (end >= c->text.size() || c->text[end].c != '=') return false;
  c->at = end + 1;
  const bool array = c->Peek() == '(';
  Words value = array ? Array(c) : Scalar(c);
  // Text is appended to text, elements to elements.
  const std::vector<ShellText>* old = variables_.Find(name);
  if (append && !array && old != nullptr && !old->empty()) {
    value[0].insert(value[0].begin(), old->front().begin(), old->front().end());
  }
  Assign(name, value, append && array);
  return true;
}

ShellScript::Words ShellScript::Scalar(Cursor* c) {
  Words value = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/false);
  if (value.empty()) value.emplace_back();
  return value;
}

ShellScript::Words ShellScript::Array(Cursor* c) {
  Words values;
  ++c->at;
  while (!c->Done() && c->Peek() != ')') {
    SkipBlanks(c->text, &c->at);
    if (c->Peek() == '#') {
      TakeLine(c->text, &c->at);
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

void ShellScript::Assign(const std::string& name, const Words& value, bool append) {
  const ShellTruth runs = Runs();
  if (runs == ShellTruth::kFalse) return;
  assigned_.push_back(name);
  if (runs == ShellTruth::kUnknown) {
    variables_.Forget(name, "$" + name + ", which is assigned under a condition");
    return;
  }
  variables_.Assign(name, value, append);
}

void ShellScript::TakeWords(Cursor* c, Words* words, bool* declaring) {
  const size_t begin = c->at;
  const Words more = ShellWordReader(c->text, &c->at, &variables_).Read(/*split=*/true);
  if (c->at == begin) ++c->at;
  const std::string first =
      words->empty() && more.size() == 1 && IsResolved(more[0]) ? PlainText(more[0]) : "";
  if (!first.empty() && TakeKeyword(first)) return;
  *declaring = *declaring || kDeclaring.contains(first);
  words->insert(words->end(), more.begin(), more.end());
}

// Handles a keyword in the place of a command.
bool ShellScript::TakeKeyword(const std::string& word) {
  if (word == "if" && blocks_.size() < kMaxBlocks) {
    blocks_.push_back({true, true});
  } else if (kLoops.contains(word) && blocks_.size() < kMaxBlocks) {
    blocks_.push_back({false, false, ShellTruth::kUnknown, ShellTruth::kUnknown});
  } else if (word == "fi" || word == "done" || word == "esac") {
    if (!blocks_.empty()) blocks_.pop_back();
  } else if (word == "elif" && !blocks_.empty()) {
    blocks_.back().in_condition = true;
    blocks_.back().runs = ShellTruth::kTrue;
    blocks_.back().condition = ShellTruth::kUnknown;
  } else if (word == "then" || word == "else") {
    if (word == "else" && !blocks_.empty()) blocks_.back().condition = ShellTruth::kTrue;
    BeginBranch();
  } else if (word == "!") {
    negated_ = !negated_;
  } else {
    return kJoining.contains(word);
  }
  return true;
}

// A branch runs if its condition holds and no earlier condition held.
void ShellScript::BeginBranch() {
  if (blocks_.empty() || !blocks_.back().is_if) return;
  Block& block = blocks_.back();
  block.in_condition = false;
  block.runs = And(block.condition, Not(block.taken));
  block.taken = Or(block.taken, block.condition);
}

void ShellScript::Execute(const Words& words, int depth) {
  if (words.empty()) return;
  const ShellTruth runs = Runs();
  Finish(words);
  if (runs == ShellTruth::kFalse || IsShellCondition(words)) return;
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
  on_command_(words);
}

// Sets the result of the command: that of a condition, or success. In the place of a condition, the
// result of any other command is kUnknown.
void ShellScript::Finish(const Words& words) {
  const bool condition = !blocks_.empty() && blocks_.back().in_condition;
  ShellTruth value = condition ? ShellTruth::kUnknown : ShellTruth::kTrue;
  if (IsShellCondition(words)) value = EvaluateShellCondition(words, variables_);
  if (negated_) value = Not(value);
  negated_ = false;
  // a && b, a || b: a skipped command leaves the result of the list unchanged.
  if (list_runs_ == ShellTruth::kTrue)
    list_ = value;
  else if (list_runs_ == ShellTruth::kUnknown)
    list_ = ShellTruth::kUnknown;
  if (condition) blocks_.back().condition = list_;
}

}  // namespace drydock
