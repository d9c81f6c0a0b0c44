#include "workload-gen/import/shell/shell_expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/base/scan.h"
#include "workload-gen/import/shell/shell_parser.h"

namespace drydock {
namespace {

constexpr size_t kMaxFields = 100000;
constexpr int kMaxExpansions = 40;  // ${A:-${B:-...}}
constexpr int64_t kMaxSequence = 10000;

// Commands whose output is the folder of the script, without quotes, braces and blanks.
const std::set<std::string> kScriptFolders = {"$(dirname$0)",
                                              "$(dirname$BASH_SOURCE[0])",
                                              "$(dirname$BASH_SOURCE)",
                                              "$(cd$(dirname$0)&&pwd)",
                                              "$(cd$(dirname$BASH_SOURCE[0])&&pwd)",
                                              "$(cd$(dirname$BASH_SOURCE)&&pwd)",
                                              "$(cd$(dirname$0)&&pwd-P)",
                                              "$(cd$(dirname$BASH_SOURCE[0])&&pwd-P)",
                                              "$(cd$(dirname$BASH_SOURCE[0])>/dev/null2>&1&&pwd)",
                                              "$(cd$(dirname$BASH_SOURCE[0])&>/dev/null&&pwd)",
                                              "$(dirname$(realpath$0))",
                                              "$(dirname$(readlink-f$0))",
                                              "$(dirname$(realpath$BASH_SOURCE[0]))",
                                              "$(dirname$(readlink-f$BASH_SOURCE[0]))"};

bool IsScriptFolder(const std::string& source) {
  std::string text;
  for (const char c : source) {
    if (std::strchr(" \t\n\"{}", c) == nullptr) text += c;
  }
  if (text.size() > 1 && text.front() == '`') text = "$(" + text.substr(1, text.size() - 2) + ")";
  const size_t dashes = text.find("dirname--");
  if (dashes != std::string::npos) text.erase(dashes + 7, 2);
  return kScriptFolders.contains(text);
}

// A pattern of layers, such as M-M*- or ([0]*1+[1]*26). bash would replace it by the name of a file
// that fits, but no file has such a name.
bool IsLayerPattern(const std::string& text) {
  // "[0]*3+[1]*58"
  const bool list = text.starts_with("[") && text.find("]*") != std::string::npos &&
                    text.find_first_not_of("01[]*+23456789") == std::string::npos;
  return list ||
         (text.find_first_of("(MEt|,") != std::string::npos &&
          text.find_first_not_of("MEGDLtmd0123456789[]()*+-|,:_'\"\\") == std::string::npos);
}

// NAME[index] or NAME=expression.
bool IsElement(const std::string& text) {
  const size_t open = text.find_first_of("[=+*");
  return open != std::string::npos && IsShellName(text.substr(0, open));
}

bool IsUnquoted(const ShellAtom& atom, char c) {
  return atom.kind == ShellAtom::Kind::kChar && !atom.quoted && atom.c.c == c &&
         atom.c.unresolved < 0;
}

ShellWord Slice(const ShellWord& word, size_t begin, size_t end) {
  return ShellWord(word.begin() + static_cast<int64_t>(begin),
                   word.begin() + static_cast<int64_t>(end));
}

ShellWord WordOf(const std::string& text, const ShellChar& at) {
  ShellWord word;
  for (const ShellChar& c : TextAt(text, at)) word.push_back({ShellAtom::Kind::kChar, false, c});
  return word;
}

// Returns the words of a..b or a..b..step, or none.
std::vector<std::string> SequenceOf(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t dots = text.find(".."); dots != std::string::npos; dots = text.find("..", begin)) {
    parts.push_back(text.substr(begin, dots - begin));
    begin = dots + 2;
  }
  parts.push_back(text.substr(begin));
  if (parts.size() < 2 || parts.size() > 3) return {};
  std::vector<std::string> words;
  int64_t step = parts.size() == 3 ? WholeNumber(parts[2]).value_or(INT64_MIN) : 1;
  if (step == INT64_MIN) return {};
  if (step < 0) step = -step;
  if (step == 0) step = 1;
  const auto letter = [](const std::string& part) {
    return part.size() == 1 && isalpha(static_cast<unsigned char>(part[0])) != 0;
  };
  const bool letters = letter(parts[0]) && letter(parts[1]);
  const std::optional<int64_t> first = letters ? parts[0][0] : WholeNumber(parts[0]);
  const std::optional<int64_t> last = letters ? parts[1][0] : WholeNumber(parts[1]);
  if (!first.has_value() || !last.has_value()) return {};
  const int64_t limit = int64_t{1} << 40;
  if (std::max(std::abs(*first), std::abs(*last)) > limit) return {};
  if ((std::abs(*last - *first)) / step > kMaxSequence) return {};
  const auto padded = [](const std::string& part) {
    const size_t sign = part[0] == '-' ? 1 : 0;
    return part.size() > sign + 1 && part[sign] == '0';
  };
  const size_t width = !letters && (padded(parts[0]) || padded(parts[1]))
                           ? std::max(parts[0].size(), parts[1].size())
                           : 0;
  for (int64_t i = *first; *first <= *last ? i <= *last : i >= *last;
       i += *first <= *last ? step : -step) {
    words.push_back(letters ? std::string(1, static_cast<char>(i))
                            : fmt::format("{:0{}}", i, width));
  }
  return words;
}

}  // namespace

void ShellExpander::Fail(const std::string& message, const ShellChar& at) {
  if (!mistake_.has_value()) mistake_ = ShellMistake{message, at};
}

void ShellExpander::Begin(bool split) {
  split_ = split;
  fields_.clear();
  current_.clear();
  open_ = false;
}

std::vector<ShellExpander::Chars> ShellExpander::Finish() {
  Close();
  return std::move(fields_);
}

void ShellExpander::AddChar(const ShellChar& c, bool quoted) {
  current_.push_back({c, quoted});
  open_ = true;
}

void ShellExpander::Close() {
  if (open_ && fields_.size() < kMaxFields) fields_.push_back(std::move(current_));
  current_.clear();
  open_ = false;
}

ShellText ShellExpander::Plain(const Chars& chars) const {
  ShellText text;
  for (const Char& c : chars) text.push_back(c.c);
  return text;
}

std::vector<ShellText> ShellExpander::Fields(const ShellWord& word) {
  std::vector<ShellText> texts;
  for (const ShellWord& part : Braces(word)) {
    Begin(/*split=*/true);
    AddWord(part, /*assignment=*/false);
    for (const Chars& field : Finish()) texts.push_back(FileNames(field));
    if (texts.size() > kMaxFields || !state_.session().Spend(part.size() / 8 + 1)) break;
  }
  return texts;
}

std::vector<ShellText> ShellExpander::AllFields(const std::vector<ShellWord>& words) {
  std::vector<ShellText> texts;
  for (const ShellWord& word : words) {
    for (ShellText& text : Fields(word)) texts.push_back(std::move(text));
  }
  return texts;
}

ShellText ShellExpander::Text(const ShellWord& word) {
  Begin(/*split=*/false);
  AddWord(word, /*assignment=*/true);
  ShellText text;
  for (const Chars& field : Finish()) {
    for (const Char& c : field) text.push_back(c.c);
  }
  return text;
}

std::optional<ShellPattern> ShellExpander::Pattern(const ShellWord& word) {
  Begin(/*split=*/false);
  AddWord(word, /*assignment=*/false);
  ShellPattern pattern;
  for (const Chars& field : Finish()) {
    for (const Char& c : field) {
      if (c.c.unresolved >= 0) return std::nullopt;
      pattern.push_back({c.c.c, c.quoted});
    }
  }
  if (!IsPlainPattern(pattern)) return std::nullopt;
  if (state_.odd_patterns) return std::nullopt;
  return pattern;
}

void ShellExpander::AddWord(const ShellWord& word, bool assignment) {
  for (size_t i = 0; i < word.size(); ++i) {
    const ShellAtom& atom = word[i];
    if (atom.kind == ShellAtom::Kind::kQuotes) {
      // "$@" without arguments is no word.
      const bool list = i + 1 < word.size() && word[i + 1].quoted &&
                        word[i + 1].kind == ShellAtom::Kind::kExpansion &&
                        word[i + 1].expansion->list == "@";
      if (!list) open_ = true;
      continue;
    }
    if (IsUnquoted(atom, '~')) {
      const std::optional<std::string> before = LiteralWord(Slice(word, 0, i == 0 ? 0 : i - 1));
      const bool value = i > 0 && IsUnquoted(word[i - 1], '=') && IsShellName(before.value_or(""));
      if (i == 0 || value || (assignment && IsUnquoted(word[i - 1], ':'))) {
        AddTilde(word, &i, assignment);
        continue;
      }
    }
    AddAtom(atom);
  }
}

// Skips to the last character of ~ or ~user.
void ShellExpander::AddTilde(const ShellWord& word, size_t* at, bool assignment) {
  const ShellChar begin = word[*at].c;
  while (*at + 1 < word.size() && word[*at + 1].kind == ShellAtom::Kind::kChar &&
         !IsUnquoted(word[*at + 1], '/') && !(assignment && IsUnquoted(word[*at + 1], ':'))) {
    ++*at;
  }
  AddUnknown("~", "it is a home folder", /*quoted=*/true, begin);
}

void ShellExpander::AddAtom(const ShellAtom& atom) {
  if (atom.kind == ShellAtom::Kind::kQuotes) {
    open_ = true;
    return;
  }
  if (atom.kind == ShellAtom::Kind::kChar) return AddChar(atom.c, atom.quoted);
  const ShellExpansion& expansion = *atom.expansion;
  if (++depth_ > kMaxExpansions) {
    Fail("expansions are nested too deeply", expansion.at);
  } else {
    switch (expansion.kind) {
      case ShellExpansion::Kind::kParameter:
        AddParameter(expansion, atom.quoted);
        break;
      case ShellExpansion::Kind::kArithmetic: {
        ShellExpander inner(&state_);
        inner.depth_ = depth_;
        const ShellNumber number = inner.Number(expansion.word);
        if (inner.mistake_.has_value()) Fail(inner.mistake_->message, inner.mistake_->at);
        if (number.value.has_value()) {
          AddText(TextAt(std::to_string(*number.value), expansion.at), atom.quoted, expansion.at);
        } else {
          AddUnknown(expansion.source, "its operands are not known", atom.quoted, expansion.at);
        }
        break;
      }
      case ShellExpansion::Kind::kCommand:
        AddCommand(expansion, atom.quoted);
        break;
      case ShellExpansion::Kind::kProcess:
        AddUnknown(expansion.source, "it is the name of a pipe", atom.quoted, expansion.at);
        break;
      case ShellExpansion::Kind::kNotUnderstood:
        AddUnknown(expansion.source, "this expansion is not understood", atom.quoted, expansion.at);
        break;
    }
  }
  --depth_;
}

void ShellExpander::AddCommand(const ShellExpansion& expansion, bool quoted) {
  const bool script = IsScriptFolder(expansion.source);
  const bool known = state_.folder != ShellState::Folder::kUnknown;
  if (script || (known && (expansion.source == "$(pwd)" || expansion.source == "`pwd`"))) {
    const int32_t id = state_.session().Add(
        {expansion.source,
         script ? "it is the folder of the script" : "it is the folder in which the script starts",
         "", ShellUnknown::Kind::kScriptFolder, expansion.at});
    return AddUnknown(id, quoted, expansion.at);
  }
  // $(cat <<END ... END) is a text.
  const ShellCommand* only = expansion.command.get();
  if (only != nullptr && only->children.size() == 1) only = only->children[0].get();
  if (only != nullptr && only->kind == ShellCommand::Kind::kSimple && only->arguments.size() == 1 &&
      only->assignments.empty() &&
      LiteralWord(only->arguments[0].word) == std::optional<std::string>("cat") &&
      only->redirections.size() == 1 && !state_.functions.contains("cat") &&
      only->redirections[0].kind == ShellRedirection::Kind::kHereDocument) {
    ShellExpander inner(&state_);
    inner.depth_ = depth_;
    ShellText text = inner.Text(only->redirections[0].target);
    if (inner.mistake_.has_value()) Fail(inner.mistake_->message, inner.mistake_->at);
    while (!text.empty() && text.back().c == '\n') text.pop_back();
    return AddText(text, quoted, expansion.at);
  }
  AddUnknown(expansion.source, "it is the output of a command", quoted, expansion.at);
}

void ShellExpander::AddUnknown(int32_t id, bool quoted, const ShellChar& at) {
  for (ShellChar c : state_.session().Text(id, at)) {
    c.wide = !quoted && split_;
    AddChar(c, /*quoted=*/true);
  }
}

void ShellExpander::AddUnknown(const std::string& what, const std::string& why, bool quoted,
                               const ShellChar& at) {
  AddUnknown(state_.session().Add({what, why, "", ShellUnknown::Kind::kOther, at}), quoted, at);
}

std::optional<std::string> ShellExpander::Separators() {
  if (state_.Distrusted("IFS", {}).has_value()) return std::nullopt;
  const ShellVariable* variable = state_.Find("IFS");
  if (variable == nullptr) {
    const ShellUnknown& unknown = state_.session().Of(state_.Unassigned("IFS", {}));
    if (unknown.kind != ShellUnknown::Kind::kNotAssigned) return std::nullopt;
    return " \t\n";
  }
  if (variable->unknown >= 0) return std::nullopt;
  const ShellText* text = variable->is_set ? variable->text() : nullptr;
  if (text == nullptr) return " \t\n";
  return IsResolved(*text) ? std::optional<std::string>(PlainText(*text)) : std::nullopt;
}

void ShellExpander::AddText(const ShellText& text, bool quoted, const ShellChar& at) {
  if (!state_.session().Spend(text.size() + 1)) return;
  if (quoted) open_ = true;
  const auto placed = [&](ShellChar c) {
    if (c.line == 0) {
      c.file = at.file;
      c.line = at.line;
      c.column = at.column;
    }
    return c;
  };
  if (quoted || !split_) {
    for (const ShellChar& c : text) AddChar(placed(c), quoted);
    return;
  }
  const std::optional<std::string> separators = Separators();
  if (!separators.has_value()) {
    if (!text.empty()) AddUnknown("$IFS", "how IFS splits the text is not known", false, at);
    return;
  }
  bool after_blank = false;  // a blank ended a field of this text
  for (const ShellChar& c : text) {
    if (c.unresolved >= 0) {
      ShellChar wide = placed(c);
      wide.wide = true;
      AddChar(wide, /*quoted=*/true);
      after_blank = false;
    } else if (separators->find(c.c) == std::string::npos) {
      AddChar(placed(c), /*quoted=*/false);
      after_blank = false;
    } else if (std::strchr(" \t\n", c.c) != nullptr) {
      after_blank = after_blank || open_;
      Close();
    } else {
      if (!open_ && !after_blank) open_ = true;
      Close();
      after_blank = false;
    }
  }
}

// Lists are separate fields: "$@".
void ShellExpander::AddValues(const Operand& operand, bool quoted, const ShellChar& at) {
  if (operand.set == Operand::Set::kUnknown || operand.set == Operand::Set::kNotAssigned) {
    return AddUnknown(operand.unknown, quoted && !operand.list, at);
  }
  if (operand.set == Operand::Set::kNo) {
    if (quoted && !operand.list) open_ = true;
    return;
  }
  const bool joined = operand.list && operand.joined && quoted;
  std::string separator = " ";
  if (joined) {
    const std::optional<std::string> separators = Separators();
    if (!separators.has_value()) {
      return AddUnknown("$IFS", "how IFS joins the text is not known", quoted, at);
    }
    separator = separators->substr(0, 1);
  }
  bool first = true;
  for (const ShellText& value : operand.values) {
    if (!first && operand.list) {
      if (joined || !split_)
        for (const ShellChar& c : TextAt(separator, at)) AddChar(c, true);
      else
        Close();
    }
    first = false;
    AddText(value, quoted, at);
  }
}

ShellText ShellExpander::FileNames(const Chars& field) {
  ShellPattern pattern;
  for (const Char& c : field) pattern.push_back({c.c.c, c.quoted || c.c.unresolved >= 0});
  const ShellText text = Plain(field);
  const std::string plain = PlainText(text);
  if (state_.no_globs && !state_.odd_patterns) return text;
  if (!HasWildcard(pattern)) return text;
  if (!state_.odd_patterns && IsResolved(text) && (IsLayerPattern(plain) || plain == "[")) {
    return text;
  }
  if (subscripts && IsElement(plain)) return text;
  const ShellChar at = field.empty() ? ShellChar() : field.front().c;
  ShellText unknown = state_.session().Text(
      state_.session().Add({"'" + plain + "'",
                            "bash replaces it by the names of files; quote it if it is a text", "",
                            ShellUnknown::Kind::kOther, at}),
      at);
  unknown[0].wide = true;
  return unknown;
}

std::vector<ShellWord> ShellExpander::Braces(const ShellWord& word) const {
  for (size_t open = 0; open < word.size(); ++open) {
    if (!IsUnquoted(word[open], '{')) continue;
    std::vector<size_t> cuts = {open};
    size_t close = open + 1;
    for (int depth = 0; close < word.size(); ++close) {
      if (IsUnquoted(word[close], '{')) ++depth;
      if (IsUnquoted(word[close], ',') && depth == 0) cuts.push_back(close);
      if (IsUnquoted(word[close], '}') && depth-- == 0) break;
    }
    if (close >= word.size()) continue;
    std::vector<ShellWord> parts;
    if (cuts.size() > 1) {
      cuts.push_back(close);
      for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        for (ShellWord& part : Braces(Slice(word, cuts[i] + 1, cuts[i + 1]))) {
          parts.push_back(std::move(part));
        }
      }
    } else {
      const std::optional<std::string> inside = LiteralWord(Slice(word, open + 1, close));
      for (const std::string& part : SequenceOf(inside.value_or(""))) {
        parts.push_back(WordOf(part, word[open].c));
      }
    }
    if (parts.empty()) continue;
    std::vector<ShellWord> words;
    const std::vector<ShellWord> rests = Braces(Slice(word, close + 1, word.size()));
    for (const ShellWord& part : parts) {
      for (const ShellWord& rest : rests) {
        ShellWord whole = Slice(word, 0, open);
        whole.insert(whole.end(), part.begin(), part.end());
        whole.insert(whole.end(), rest.begin(), rest.end());
        if (!state_.session().Spend(whole.size() + 1)) return words;
        words.push_back(std::move(whole));
      }
    }
    return words;
  }
  return {word};
}

ShellNumber ShellExpander::Number(const ShellWord& expression) {
  ShellExpander inner(&state_);
  inner.depth_ = depth_ + 1;
  if (depth_ > kMaxExpansions) return {std::nullopt, "it is nested too deeply"};
  const ShellText text = inner.Text(expression);
  if (inner.mistake_.has_value()) Fail(inner.mistake_->message, inner.mistake_->at);
  ShellText placed = text;
  if (placed.empty() && !expression.empty()) placed = TextAt(" ", expression[0].c);
  return NumberOf(placed);
}

ShellNumber ShellExpander::NumberOf(const ShellText& expression) {
  std::string text;
  for (const ShellChar& c : expression) text += c.unresolved < 0 ? c.c : kUnknownOperand;
  const ShellChar at = expression.empty() ? ShellChar() : expression.front();
  ShellStateNumbers names(
      &state_, at, fmt::format("'{}' assigns a value that is not known", PlainText(expression)));
  const ShellNumber number = EvaluateArithmetic(text, &names);
  if (!number.mistake.empty()) {
    Fail(fmt::format("bash cannot evaluate '{}': {}", PlainText(expression), number.mistake), at);
  }
  return number;
}

std::vector<ShellText> ShellExpander::Split(const ShellText& text) {
  Begin(/*split=*/true);
  AddText(text, /*quoted=*/false, {});
  std::vector<ShellText> texts;
  for (const Chars& field : Finish()) texts.push_back(Plain(field));
  return texts;
}

std::optional<std::string> ShellStateNumbers::Get(const std::string& name,
                                                  std::optional<int64_t> index) {
  const ShellVariable* variable = state_.Find(name);
  if (state_.Distrusted(name, at_).has_value() || variable == nullptr || variable->unknown >= 0 ||
      variable->form == ShellVariable::Form::kMap) {
    return std::nullopt;
  }
  if (!variable->is_set) return "0";
  for (const auto& [key, value] : variable->elements) {
    if (IsWide(value)) return std::nullopt;
  }
  const auto found = variable->elements.find(index.value_or(0));
  if (index.value_or(0) < 0) return std::nullopt;
  if (found == variable->elements.end()) return "0";
  if (!IsResolved(found->second)) return std::nullopt;
  return PlainText(found->second);
}

void ShellStateNumbers::Set(const std::string& name, std::optional<int64_t> index,
                            std::optional<int64_t> value) {
  const ShellVariable* old = state_.Find(name);
  const bool map = old != nullptr && old->form == ShellVariable::Form::kMap;
  if (!value.has_value() || map || index.value_or(0) < 0) {
    state_.Change(name);  // finds a readonly variable
    return Lose(name);
  }
  const ShellText text = TextAt(std::to_string(*value), at_);
  if (!index.has_value()) {
    if (old != nullptr && old->unknown >= 0 && old->form == ShellVariable::Form::kArray) return;
    return state_.AssignText(name, text);
  }
  ShellVariable* variable = state_.Change(name);
  if (variable == nullptr || variable->unknown >= 0) return;
  variable->form = ShellVariable::Form::kArray;
  variable->is_set = true;
  variable->elements[*index] = text;
}

void ShellStateNumbers::Lose(const std::string& name) { state_.Forget(name, why_, at_); }

}  // namespace drydock
