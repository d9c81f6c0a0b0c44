#include "workload-gen/import/shell/shell_words.h"

#include <algorithm>
#include <cstring>

#include "core/base/scan.h"
#include "workload-gen/import/shell/shell_arithmetic.h"

namespace drydock {
namespace {

constexpr size_t kMaxFields = 100000;
constexpr int kMaxExpansions = 32;  // ${A:-${B:-...}}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

bool IsShellOperator(char c) { return c != '\0' && std::strchr(";&|()<>\n", c) != nullptr; }

bool IsNameCharacter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string PlainText(const ShellText& text) {
  std::string out;
  for (const ShellChar& c : text) {
    if (c.unresolved < 0) out += c.c;
  }
  return out;
}

bool IsResolved(const ShellText& text) {
  return std::all_of(text.begin(), text.end(), [](const ShellChar& c) { return c.unresolved < 0; });
}

ShellText WithPlaces(const std::string& text) {
  ShellText out;
  int32_t line = 1, column = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues) ++column;
    if (c != '\r') out.push_back({c, line, column, -1});
    if (c != '\n') continue;
    ++line;
    column = 0;
  }
  return out;
}

void ShellVariables::Fix(const std::string& name, const std::string& value) {
  variables_[name] = {{WithPlaces(value)}, true};
}

void ShellVariables::Assign(const std::string& name, const std::vector<ShellText>& value,
                            bool append) {
  Variable& variable = variables_[name];
  if (variable.fixed) return;
  if (!append) variable.values.clear();
  size_t characters = 0;
  for (const ShellText& text : value) characters += text.size() + 1;
  if (!Spend(characters)) return;
  variable.values.insert(variable.values.end(), value.begin(), value.end());
}

void ShellVariables::Forget(const std::string& name, const std::string& why) {
  Variable& variable = variables_[name];
  if (!variable.fixed) variable.values = {Unknown(why, {})};
}

const std::vector<ShellText>* ShellVariables::Find(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second.values;
}

ShellText ShellVariables::Unknown(const std::string& what, const ShellChar& at) {
  names_.push_back(what);
  return {{'\0', at.line, at.column, static_cast<int32_t>(names_.size() - 1)}};
}

const std::string& ShellVariables::NameOf(const ShellChar& unresolved) const {
  return names_[static_cast<size_t>(unresolved.unresolved)];
}

bool ShellVariables::Spend(size_t characters) {
  left_ -= std::min(left_, characters);
  return left_ > 0;
}

void ShellWordReader::Add(const ShellChar& c) {
  current_.push_back(c);
  open_ = true;
}

void ShellWordReader::Close() {
  if (open_ && fields_.size() < kMaxFields) fields_.push_back(std::move(current_));
  current_.clear();
  open_ = false;
}

std::vector<ShellText> ShellWordReader::Read(bool split) {
  split_ = split;
  while (!Done()) {
    const ShellChar c = text_[at_];
    if (c.unresolved >= 0) {
      Add(c);
      ++at_;
    } else if (IsBlank(c.c) || IsShellOperator(c.c)) {
      break;
    } else if (c.c == '\'') {
      ReadSingleQuoted();
    } else if (c.c == '"') {
      ReadDoubleQuoted();
    } else if (c.c == '\\') {
      ReadEscape(/*quoted=*/false);
    } else if (c.c == '$') {
      ReadDollar(/*quoted=*/false);
    } else if (c.c == '`') {
      ++at_;
      SkipCommand(c, '`', /*quoted=*/false);
    } else {
      Add(c);
      ++at_;
    }
  }
  Close();
  return std::move(fields_);
}

void ShellWordReader::ReadSingleQuoted() {
  open_ = true;
  for (++at_; !Done() && Peek() != '\''; ++at_) Add(text_[at_]);
  ++at_;
}

void ShellWordReader::ReadDoubleQuoted() {
  open_ = true;
  ++at_;
  while (!Done() && Peek() != '"') {
    const ShellChar c = text_[at_];
    if (c.c == '\\') {
      ReadEscape(/*quoted=*/true);
    } else if (c.c == '$') {
      ReadDollar(/*quoted=*/true);
    } else if (c.c == '`') {
      ++at_;
      SkipCommand(c, '`', /*quoted=*/true);
    } else {
      Add(c);
      ++at_;
    }
  }
  ++at_;
}

// Inside quotes, a backslash is special only before some characters.
void ShellWordReader::ReadEscape(bool quoted) {
  const char next = Peek(1);
  if (next == '\n') {
    at_ += 2;
    return;
  }
  if (next == '\0' || (quoted && std::strchr("$`\"\\", next) == nullptr)) {
    Add(text_[at_++]);
    return;
  }
  Add(text_[at_ + 1]);
  at_ += 2;
}

void ShellWordReader::AddUnknown(const std::string& what, const ShellChar& at) {
  for (const ShellChar& c : variables_.Unknown(what, at)) Add(c);
}

// `each`: each value is a separate field, even inside quotes.
void ShellWordReader::AddValues(const std::vector<ShellText>& values, bool quoted, bool each) {
  bool first = true;
  for (const ShellText& value : values) {
    if (!variables_.Spend(value.size() + 1)) return;
    if (!first && (each || !quoted)) Close();
    if (!first && !each && quoted) Add({' ', 0, 0, -1});
    first = false;
    if (quoted) open_ = true;
    for (const ShellChar& c : value) {
      if (!quoted && split_ && c.unresolved < 0 && IsBlank(c.c))
        Close();
      else
        Add(c);
    }
  }
}

std::vector<ShellText> ShellWordReader::Value(const std::string& name, const ShellChar& at) {
  const std::vector<ShellText>* values = variables_.Find(name);
  if (values == nullptr) return {variables_.Unknown("$" + name, at)};
  if (values->empty()) return {};
  return {values->front()};
}

void ShellWordReader::ReadDollar(bool quoted) {
  const ShellChar start = text_[at_++];
  if (Peek() == '(' && Peek(1) == '(') return ReadArithmetic(start, quoted);
  if (Peek() == '(') {
    ++at_;
    return SkipCommand(start, ')', quoted);
  }
  if (Peek() == '{') return ReadBraces(start, quoted);
  std::string name;
  const bool digit = Peek() >= '0' && Peek() <= '9';
  if (digit || (Peek() != '\0' && std::strchr("@*#?$!-", Peek()) != nullptr)) {
    name = Peek();
    ++at_;
  } else {
    for (; IsNameCharacter(Peek()); ++at_) name += Peek();
  }
  if (name.empty()) return Add(start);  // a literal dollar sign
  AddValues(Value(name, start), quoted, /*each=*/false);
}

// Returns the text up to `end` and skips `end`; nothing if the text has no `end`.
std::optional<ShellText> ShellWordReader::Inside(const char* end) {
  const size_t length = std::strlen(end);
  int depth = 0;
  ShellText inside;
  for (; !Done(); ++at_) {
    bool here = depth == 0;
    for (size_t i = 0; i < length; ++i) here = here && Peek(i) == end[i];
    if (here) {
      at_ += length;
      return inside;
    }
    if (Peek() == '(' || Peek() == '{') ++depth;
    if ((Peek() == ')' || Peek() == '}') && depth > 0) --depth;
    inside.push_back(text_[at_]);
  }
  return std::nullopt;
}

void ShellWordReader::ReadBraces(const ShellChar& start, bool quoted) {
  ++at_;
  const std::optional<ShellText> inside = Inside("}");
  if (!inside.has_value() || depth_ > kMaxExpansions) return AddUnknown("${...}", start);
  std::string name;
  for (size_t i = 0; i < inside->size() && IsNameCharacter((*inside)[i].c); ++i) {
    name += (*inside)[i].c;
  }
  const std::string rest = PlainText(*inside).substr(name.size());
  const std::vector<ShellText>* values = variables_.Find(name);
  if (rest == "[@]" || rest == "[*]") {
    if (values == nullptr) return AddUnknown("${" + name + rest + "}", start);
    return AddValues(*values, quoted, rest == "[@]");
  }
  if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']' && values != nullptr) {
    const std::optional<int64_t> index = WholeNumber(rest.substr(1, rest.size() - 2));
    if (index.has_value() && *index >= 0 && *index < static_cast<int64_t>(values->size())) {
      return AddValues({(*values)[static_cast<size_t>(*index)]}, quoted, /*each=*/false);
    }
  }
  if (!name.empty() && rest.empty()) return AddValues(Value(name, start), quoted, false);
  // ${NAME:-word}, ${NAME-word}, ${NAME:=word}, ${NAME=word}; :+ inverts the condition.
  const size_t colon = !rest.empty() && rest[0] == ':' ? 1 : 0;
  const char kind = rest.size() > colon ? rest[colon] : '\0';
  if (name.empty() || (kind != '-' && kind != '=' && kind != '+')) {
    return AddUnknown("${" + PlainText(*inside) + "}", start);
  }
  const bool set =
      values != nullptr && !values->empty() && (colon == 0 || !values->front().empty());
  if (set && kind != '+') return AddValues({values->front()}, quoted, false);
  if (!set && kind == '+') return;
  const ShellText word(inside->begin() + static_cast<int64_t>(name.size() + colon + 1),
                       inside->end());
  // Reads the default as if it were quoted: blanks do not end it.
  ShellText wrapped{{'"', start.line, start.column, -1}};
  wrapped.insert(wrapped.end(), word.begin(), word.end());
  wrapped.push_back({'"', start.line, start.column, -1});
  if (!word.empty() && (word.front().c == '"' || word.front().c == '\'')) wrapped = word;
  size_t at = 0;
  AddValues(ShellWordReader(wrapped, &at, &variables_, depth_ + 1).Read(/*split=*/false), quoted,
            false);
}

void ShellWordReader::ReadArithmetic(const ShellChar& start, bool quoted) {
  at_ += 2;
  const std::optional<ShellText> inside = Inside("))");
  std::optional<int64_t> value;
  if (inside.has_value() && IsResolved(*inside)) {
    value = EvaluateArithmetic(PlainText(*inside), [&](const std::string& name) {
      const std::vector<ShellText>* found = variables_.Find(name);
      if (found == nullptr || found->empty() || !IsResolved(found->front())) {
        return std::optional<int64_t>();
      }
      return WholeNumber(PlainText(found->front()));
    });
  }
  if (!value.has_value()) {
    return AddUnknown("$((" + PlainText(inside.value_or(ShellText())) + "))", start);
  }
  ShellText digits;
  for (const char c : std::to_string(*value)) digits.push_back({c, start.line, start.column, -1});
  AddValues({digits}, quoted, /*each=*/false);
}

void ShellWordReader::SkipCommand(const ShellChar& start, char end, bool quoted) {
  const char ends[] = {end, '\0'};
  const std::optional<ShellText> inside = Inside(ends);
  AddValues({variables_.Unknown("$(" + PlainText(inside.value_or(ShellText())) + ")", start)},
            quoted, /*each=*/false);
}

}  // namespace drydock
