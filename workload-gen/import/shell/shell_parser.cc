#include "workload-gen/import/shell/shell_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/base/scan.h"

namespace drydock {
namespace {

constexpr int kMaxNesting = 60;

using Kind = ShellCommand::Kind;

const std::set<std::string> kReserved = {
    "if",   "then", "else",   "elif",     "fi",   "for",    "while", "until", "do", "done",
    "case", "esac", "select", "function", "time", "coproc", "{",     "}",     "!",  "[["};
const std::set<std::string> kClosing = {"then", "else", "elif", "fi", "do", "done", "esac", "}"};
const std::set<std::string> kDeclaring = {"export", "declare", "local", "readonly", "typeset"};

}  // namespace

std::optional<std::string> LiteralWord(const ShellWord& word) {
  std::string text;
  for (const ShellAtom& atom : word) {
    if (atom.kind != ShellAtom::Kind::kChar || atom.quoted || atom.c.unresolved >= 0) {
      return std::nullopt;
    }
    text += atom.c.c;
  }
  return text;
}

bool ShellParser::At(const char* text) const {
  for (size_t i = 0; text[i] != '\0'; ++i) {
    if (Peek(i) != text[i]) return false;
  }
  return true;
}

bool ShellParser::Take(const char* text) {
  if (Done() || !At(text)) return false;
  at_ += std::strlen(text);
  return true;
}

ShellChar ShellParser::Here() const {
  if (at_ < text_.size()) return text_[at_];
  return text_.empty() ? ShellChar() : text_.back();
}

void ShellParser::Fail(const std::string& message, const ShellChar& at) {
  if (!failure_.has_value()) failure_ = ShellFailure{message, at};
}

std::string ShellParser::SourceFrom(size_t begin) const {
  const size_t end = std::min(at_, text_.size());
  if (begin >= end) return "";
  return PlainText(ShellText(text_.begin() + static_cast<int64_t>(begin),
                             text_.begin() + static_cast<int64_t>(end)));
}

ShellCommandPtr ShellParser::Make(Kind kind) const {
  auto command = std::make_shared<ShellCommand>();
  command->kind = kind;
  command->at = Here();
  return command;
}

void ShellParser::SkipBlanks() {
  while (!Done()) {
    if (At("\\\n")) {
      at_ += 2;
    } else if (Peek() == ' ' || Peek() == '\t') {
      ++at_;
    } else if (Peek() == '#' && !AtUnresolved()) {
      while (!Done() && Peek() != '\n') ++at_;
    } else {
      return;
    }
  }
}

void ShellParser::SkipLines() {
  SkipBlanks();
  while (!Done() && Peek() == '\n') {
    ++at_;
    ReadHereDocuments();
    SkipBlanks();
  }
}

// Takes the texts of the here-documents that begin in the line before.
void ShellParser::ReadHereDocuments() {
  for (PendingDocument& pending : std::exchange(documents_, {})) {
    ShellText body;
    bool ended = false;
    while (!Done() && !ended) {
      ShellText line;
      while (pending.strip && Peek() == '\t') ++at_;
      for (; at_ < text_.size() && Peek() != '\n'; ++at_) line.push_back(text_[at_]);
      ended = IsResolved(line) && PlainText(line) == pending.end;
      if (at_ < text_.size()) line.push_back(text_[at_++]);
      if (!ended) body.insert(body.end(), line.begin(), line.end());
    }
    ShellWord word;
    if (pending.quoted) {
      for (const ShellChar& c : body) word.push_back({ShellAtom::Kind::kChar, true, c});
    } else {
      word = Document(body);
    }
    pending.command->redirections[pending.index].target = std::move(word);
  }
}

// Returns the reserved word at the reader, or "".
std::string ShellParser::PeekReserved() const {
  std::string word;
  for (size_t i = 0; word.size() < 9; ++i) {
    const bool unresolved = at_ + i < text_.size() && text_[at_ + i].unresolved >= 0;
    if (!unresolved && EndsShellWord(Peek(i))) return kReserved.contains(word) ? word : "";
    word += Peek(i);
  }
  return "";
}

bool ShellParser::TakeReserved(const char* word) {
  SkipBlanks();
  if (Done() || PeekReserved() != word) return false;
  at_ += std::strlen(word);
  return true;
}

void ShellParser::ExpectReserved(const char* word, const char* after, const ShellChar& begin) {
  SkipLines();
  if (TakeReserved(word)) return;
  const bool end = at_ >= text_.size();
  Fail(fmt::format("expected '{}' {}, which begins in line {}; bash does not read this script",
                   word, after, begin.line),
       end ? begin : Here());
}

ShellCommandPtr ShellParser::Next() {
  SkipLines();
  if (Done()) return nullptr;
  ShellCommandPtr sequence = Sequence("", /*one_line=*/true);
  if (failure_.has_value()) return nullptr;
  SkipBlanks();
  if (!Done() && Peek() != '\n') {
    const std::string word = PeekReserved().empty() ? std::string(1, Peek()) : PeekReserved();
    Fail(fmt::format("unexpected '{}'; bash does not read this script", word), Here());
    return nullptr;
  }
  if (!Done()) {
    ++at_;
    ReadHereDocuments();
  }
  return failure_.has_value() ? nullptr : sequence;
}

// Reads commands up to a closing word, or up to `end` (")", ";;") without taking it.
ShellCommandPtr ShellParser::Sequence(const char* end, bool one_line) {
  ShellCommandPtr sequence = Make(Kind::kSequence);
  if (++depth_ > kMaxNesting) Fail("commands are nested too deeply", Here());
  while (!Done()) {
    one_line ? SkipBlanks() : SkipLines();
    if (Done() || Peek() == '\n' || Peek() == ')' || At(";;") || At(";&")) break;
    if (*end != '\0' && At(end)) break;
    if (kClosing.contains(PeekReserved())) break;
    ShellCommandPtr command = AndOr();
    SkipBlanks();
    if (Peek() == '&' && !Done()) {
      ++at_;
      ShellCommandPtr background = Make(Kind::kBackground);
      background->children.push_back(std::move(command));
      command = std::move(background);
    } else if (Peek() == ';' && Peek(1) != ';' && Peek(1) != '&' && !Done()) {
      ++at_;
    } else {
      sequence->children.push_back(std::move(command));
      if (one_line || Peek() != '\n') break;
      continue;
    }
    sequence->children.push_back(std::move(command));
  }
  --depth_;
  return sequence;
}

ShellCommandPtr ShellParser::AndOr() {
  ShellCommandPtr left = Pipeline();
  while (!Done()) {
    SkipBlanks();
    if (!At("&&") && !At("||")) return left;
    ShellCommandPtr both = Make(At("&&") ? Kind::kAnd : Kind::kOr);
    at_ += 2;
    SkipLines();
    both->children = {std::move(left), Pipeline()};
    left = std::move(both);
  }
  return left;
}

ShellCommandPtr ShellParser::Pipeline() {
  ShellCommandPtr pipeline = Make(Kind::kPipeline);
  bool prefixed = false;
  for (;; prefixed = true) {
    if (TakeReserved("!")) {
      pipeline->negated = !pipeline->negated;
    } else if (TakeReserved("time")) {
      SkipBlanks();
      if (At("-p") && EndsShellWord(Peek(2))) at_ += 2;
    } else {
      break;
    }
  }
  SkipBlanks();
  const bool alone = prefixed && (Done() || Peek() == '\n' || Peek() == ';');
  if (!alone) pipeline->children.push_back(Command());
  while (!Done()) {
    SkipBlanks();
    if (Peek() != '|' || Peek(1) == '|') break;
    at_ += Peek(1) == '&' ? 2 : 1;
    SkipLines();
    pipeline->children.push_back(Command());
  }
  if (pipeline->children.size() == 1 && !pipeline->negated) return pipeline->children[0];
  return pipeline;
}

ShellCommandPtr ShellParser::Command() {
  SkipBlanks();
  if (Done()) {
    Fail("the script ends where a command is expected", Here());
    return Make(Kind::kSimple);
  }
  if (++depth_ > kMaxNesting) Fail("commands are nested too deeply", Here());
  ShellCommandPtr command = Compound();
  if (command == nullptr) {
    command = AtFunction() ? Function(/*keyword=*/false) : Simple();
  } else {
    SkipBlanks();
    while (!Done() && Redirection(command)) SkipBlanks();
  }
  --depth_;
  return command;
}

// Reads a compound command; returns none if another command begins here.
ShellCommandPtr ShellParser::Compound() {
  const ShellChar begin = Here();
  if (At("((")) {
    const size_t before = at_;
    ShellCommandPtr command = Make(Kind::kArithmetic);
    at_ += 2;
    command->words.emplace_back();
    if (Arithmetic(&command->words[0])) return command;
    at_ = before;
  }
  if (Peek() == '(' && !AtUnresolved()) {
    ShellCommandPtr command = Make(Kind::kSubshell);
    ++at_;
    command->children.push_back(Sequence(")"));
    SkipLines();
    if (!Take(")")) Fail(fmt::format("no ')' for the '(' in line {}", begin.line), begin);
    return command;
  }
  const std::string word = PeekReserved();
  if (word == "if") return If();
  if (word == "while") return While(Kind::kWhile);
  if (word == "until") return While(Kind::kUntil);
  if (word == "for") return For(Kind::kFor);
  if (word == "select") return For(Kind::kSelect);
  if (word == "case") return Case();
  if (word == "[[") return Test();
  if (word == "function") return Function(/*keyword=*/true);
  if (word == "coproc") return Coprocess();
  if (word == "{") {
    ShellCommandPtr command = Make(Kind::kGroup);
    ++at_;
    command->children.push_back(Sequence("}"));
    ExpectReserved("}", "after '{'", begin);
    return command;
  }
  if (kClosing.contains(word)) {
    Fail(fmt::format("unexpected '{}'; bash does not read this script", word), begin);
    return Make(Kind::kSimple);
  }
  return nullptr;
}

ShellCommandPtr ShellParser::If() {
  ShellCommandPtr command = Make(Kind::kIf);
  const ShellChar begin = Here();
  at_ += 2;
  while (!Done()) {
    command->children.push_back(Sequence("then"));
    ExpectReserved("then", "after 'if'", begin);
    command->children.push_back(Sequence("fi"));
    SkipLines();
    if (!TakeReserved("elif")) break;
  }
  if (TakeReserved("else")) command->children.push_back(Sequence("fi"));
  ExpectReserved("fi", "after 'if'", begin);
  return command;
}

ShellCommandPtr ShellParser::DoGroup() {
  const ShellChar begin = Here();
  SkipLines();
  const bool braces = TakeReserved("{");
  if (!braces) ExpectReserved("do", "in the loop", begin);
  ShellCommandPtr body = Sequence(braces ? "}" : "done");
  ExpectReserved(braces ? "}" : "done", "after the loop", begin);
  return body;
}

ShellCommandPtr ShellParser::While(Kind kind) {
  ShellCommandPtr command = Make(kind);
  const ShellChar begin = Here();
  at_ += 5;
  command->children.push_back(Sequence("do"));
  ExpectReserved("do", "in the loop", begin);
  command->children.push_back(Sequence("done"));
  ExpectReserved("done", "after the loop", begin);
  return command;
}

ShellCommandPtr ShellParser::For(Kind kind) {
  ShellCommandPtr command = Make(kind);
  at_ += kind == Kind::kFor ? 3 : 6;
  SkipBlanks();
  if (kind == Kind::kFor && Take("((")) {
    command->kind = Kind::kForArithmetic;
    for (const char* end : {";", ";", ")"}) {
      ShellWord word = Until(end, Place::kArithmetic);
      command->words.push_back(std::move(word));
      if (!Take(end)) Fail("expected 'for ((a; b; c))'", command->at);
    }
    if (!Take(")")) Fail("expected 'for ((a; b; c))'", command->at);
    SkipBlanks();
    Take(";");
    command->children.push_back(DoGroup());
    return command;
  }
  while (IsNameCharacter(Peek())) command->name += text_[at_++].c;
  if (!IsShellName(command->name)) Fail("expected the name of a variable after 'for'", Here());
  SkipLines();
  if (!Done() && Peek() == 'i' && At("in") && EndsShellWord(Peek(2))) {
    at_ += 2;
    command->has_words = true;
    SkipBlanks();
    while (!Done() && (AtUnresolved() || !AtWordEnd())) {
      command->words.push_back(Word());
      SkipBlanks();
    }
  }
  Take(";");
  command->children.push_back(DoGroup());
  return command;
}

ShellCommandPtr ShellParser::Case() {
  ShellCommandPtr command = Make(Kind::kCase);
  const ShellChar begin = Here();
  at_ += 4;
  SkipBlanks();
  command->words.push_back(Word());
  SkipLines();
  if (!Take("in")) Fail("expected 'in' after 'case'", Here());
  SkipLines();
  while (!Done() && PeekReserved() != "esac") CaseArm(command.get());
  ExpectReserved("esac", "after 'case'", begin);
  return command;
}

void ShellParser::CaseArm(ShellCommand* command) {
  ShellCaseArm arm;
  Take("(");
  SkipBlanks();
  do {
    SkipBlanks();
    arm.patterns.push_back(Word());
    SkipBlanks();
  } while (Take("|"));
  if (!Take(")")) Fail("expected ')' after a pattern of 'case'", Here());
  arm.body = Sequence(";;");
  SkipLines();
  arm.end = ";;";
  if (Take(";;&"))
    arm.end = ";;&";
  else if (Take(";&"))
    arm.end = ";&";
  else if (!Take(";;") && PeekReserved() != "esac")
    Fail("expected ';;' or 'esac' after an arm of 'case'", Here());
  command->arms.push_back(std::move(arm));
  SkipLines();
}

ShellCommandPtr ShellParser::Test() {
  ShellCommandPtr command = Make(Kind::kTest);
  const ShellChar begin = Here();
  at_ += 2;
  while (true) {
    SkipLines();
    if (Done()) {
      Fail("no ']]' for '[['", begin);
      break;
    }
    if (At("]]") && EndsShellWord(Peek(2))) {
      at_ += 2;
      break;
    }
    bool sign = false;
    for (const char* text : {"&&", "||", "(", ")", "<", ">"}) {
      if (sign || !At(text)) continue;
      command->test.push_back({text, {}});
      at_ += std::strlen(text);
      sign = true;
    }
    if (sign) continue;
    if (AtWordEnd()) {
      Fail(fmt::format("unexpected '{}' in [[ ]]", Peek()), Here());
      break;
    }
    const bool expression = !command->test.empty() && LiteralWord(command->test.back().word) ==
                                                          std::optional<std::string>("=~");
    command->test.push_back({"", expression ? RegularExpression() : Word()});
  }
  return command;
}

bool ShellParser::AtFunction() const {
  size_t i = 0;
  while (IsNameCharacter(Peek(i)) || Peek(i) == '-' || Peek(i) == '.' || Peek(i) == ':') ++i;
  if (i == 0) return false;
  while (Peek(i) == ' ' || Peek(i) == '\t') ++i;
  if (Peek(i) != '(') return false;
  ++i;
  while (Peek(i) == ' ' || Peek(i) == '\t') ++i;
  return Peek(i) == ')';
}

ShellCommandPtr ShellParser::Function(bool keyword) {
  ShellCommandPtr command = Make(Kind::kFunction);
  if (keyword) at_ += 8;
  SkipBlanks();
  while (!Done() && !AtWordEnd()) command->name += text_[at_++].c;
  SkipBlanks();
  if (Take("(")) {
    SkipBlanks();
    if (!Take(")")) Fail("expected ')' after the name of a function", Here());
  }
  SkipLines();
  ShellCommandPtr body = Done() ? nullptr : Compound();
  if (body == nullptr) {
    Fail(fmt::format("expected '{{' after the name of the function '{}'", command->name), Here());
    return command;
  }
  SkipBlanks();
  while (!Done() && Redirection(body)) SkipBlanks();
  command->children.push_back(std::move(body));
  return command;
}

ShellCommandPtr ShellParser::Coprocess() {
  ShellCommandPtr command = Make(Kind::kCoprocess);
  at_ += 6;
  SkipBlanks();
  command->name = "COPROC";
  const size_t before = at_;
  std::string name;
  while (IsNameCharacter(Peek())) name += text_[at_++].c;
  SkipBlanks();
  const bool compound = Peek() == '(' || (!PeekReserved().empty() && PeekReserved() != "!");
  if (IsShellName(name) && !kReserved.contains(name) && compound)
    command->name = name;
  else
    at_ = before;
  command->children.push_back(Command());
  return command;
}

bool ShellParser::AtAssignment() const {
  size_t i = 0;
  if (AtUnresolved() || !IsNameStart(Peek())) return false;
  while (IsNameCharacter(Peek(i))) ++i;
  if (Peek(i) == '[') {
    int open = 0;
    for (; Peek(i) != '\0' && Peek(i) != '\n'; ++i) {
      if (Peek(i) == '[') ++open;
      if (Peek(i) == ']' && --open == 0) break;
    }
    if (Peek(i) != ']') return false;
    ++i;
  }
  if (Peek(i) == '+') ++i;
  return Peek(i) == '=';
}

ShellAssignment ShellParser::Assignment() {
  ShellAssignment assignment;
  assignment.at = Here();
  while (IsNameCharacter(Peek())) assignment.name += text_[at_++].c;
  if (Take("[")) {
    assignment.has_index = true;
    assignment.index = Until("]", Place::kBraces);
    if (!Take("]")) Fail("no ']' in an assignment", assignment.at);
  }
  assignment.append = Take("+");
  if (!Take("=")) Fail("no '=' in an assignment", assignment.at);
  if (Peek() == '(' && !AtUnresolved())
    Array(&assignment);
  else if (!AtWordEnd())
    assignment.value = Word();
  return assignment;
}

void ShellParser::Array(ShellAssignment* assignment) {
  const ShellChar begin = Here();
  ++at_;
  assignment->is_array = true;
  while (true) {
    SkipLines();
    if (Done()) return Fail(fmt::format("no ')' for the array in line {}", begin.line), begin);
    if (Take(")")) return;
    if (AtWordEnd()) return Fail(fmt::format("unexpected '{}' in an array", Peek()), Here());
    ShellElement element;
    if (Peek() == '[' && !AtUnresolved()) {
      const size_t before = at_;
      ++at_;
      element.key = Until("]", Place::kBraces);
      element.has_key = Take("]=");
      if (!element.has_key) {
        element.key.clear();
        at_ = before;
      }
    }
    if (!element.has_key || !AtWordEnd()) element.value = Word();
    assignment->elements.push_back(std::move(element));
  }
}

// Reads a redirection, if one begins here.
bool ShellParser::Redirection(const ShellCommandPtr& command) {
  size_t i = 0;
  std::string variable;
  if (AtUnresolved()) return false;
  if (Peek() == '{') {
    for (i = 1; IsNameCharacter(Peek(i)); ++i) variable += Peek(i);
    if (Peek(i) == '[') {
      while (Peek(i) != ']' && !EndsShellWord(Peek(i))) ++i;
      if (Peek(i) == ']') ++i;
    }
    if (Peek(i) != '}' || !IsShellName(variable)) return false;
    ++i;
  } else {
    while (Peek(i) >= '0' && Peek(i) <= '9') ++i;
  }
  const bool both = i == 0 && At("&>");
  if (!both && Peek(i) != '<' && Peek(i) != '>') return false;
  if (!both && Peek(i + 1) == '(') return false;  // <(...), a word
  at_ += i;
  const ShellChar begin = Here();
  ShellRedirection redirection;
  redirection.variable = variable;
  redirection.input = Peek() == '<' && (i == 0 || text_[at_ - 1].c == '0');
  const bool string = Take("<<<");
  const bool document = !string && Take("<<");
  const bool strip = document && Take("-");
  if (!string && !document) {
    for (const char* sign : {"&>>", "&>", "<&", "<>", "<", ">>", ">&", ">|", ">"}) {
      if (Take(sign)) break;
    }
  }
  SkipBlanks();
  if (AtWordEnd() && !At("<(") && !At(">(")) {
    Fail("a redirection without a file", begin);
    return false;
  }
  ShellWord target = Word();
  if (document) {
    PendingDocument pending{command, command->redirections.size(), "", strip, false};
    for (const ShellAtom& atom : target) {
      pending.quoted = pending.quoted || atom.quoted || atom.kind == ShellAtom::Kind::kQuotes;
      if (atom.kind == ShellAtom::Kind::kChar) pending.end += atom.c.c;
      if (atom.kind == ShellAtom::Kind::kExpansion) pending.end += atom.expansion->source;
    }
    redirection.kind = ShellRedirection::Kind::kHereDocument;
    documents_.push_back(std::move(pending));
  } else {
    if (string) redirection.kind = ShellRedirection::Kind::kHereString;
    redirection.target = std::move(target);
  }
  command->redirections.push_back(std::move(redirection));
  return true;
}

ShellCommandPtr ShellParser::Simple() {
  ShellCommandPtr command = Make(Kind::kSimple);
  bool declaring = false;
  while (true) {
    SkipBlanks();
    if (Done()) break;
    if (Redirection(command)) continue;
    const bool process = At("<(") || At(">(");
    if (AtWordEnd() && !process) {
      if (Peek() == '(' && !AtUnresolved()) {
        Fail("unexpected '('; quote it, or bash does not read this script", Here());
      }
      break;
    }
    if (command->arguments.empty() && AtAssignment()) {
      command->assignments.push_back(Assignment());
      continue;
    }
    ShellArgument argument;
    if (declaring && AtAssignment())
      argument.assignment = Assignment();
    else
      argument.word = Word();
    const std::string literal =
        argument.assignment.has_value() ? "" : LiteralWord(argument.word).value_or("");
    const bool prefix = std::all_of(
        command->arguments.begin(), command->arguments.end(), [](const ShellArgument& before) {
          const std::string text = LiteralWord(before.word).value_or("");
          return text == "command" || text == "builtin";
        });
    declaring = declaring || (prefix && kDeclaring.contains(literal));
    command->arguments.push_back(std::move(argument));
  }
  const bool empty =
      command->arguments.empty() && command->assignments.empty() && command->redirections.empty();
  if (empty && !failure_.has_value()) {
    const std::string next = Done()           ? "the end"
                             : Peek() == '\n' ? "the end of the line"
                                              : fmt::format("'{}'", Peek());
    Fail(fmt::format("expected a command before {}; bash does not read this script", next), Here());
  }
  return command;
}

}  // namespace drydock
