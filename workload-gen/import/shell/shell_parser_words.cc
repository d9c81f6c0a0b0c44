// Words, quotes and expansions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "workload-gen/import/shell/shell_parser.h"

namespace drydock {
namespace {

constexpr int kMaxNesting = 60;

bool IsSpecialParameter(char c) { return c != '\0' && std::strchr("@*#?$!-", c) != nullptr; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

ShellWord ShellParser::Word() {
  ShellWord word;
  if (++depth_ > kMaxNesting) Fail("expansions are nested too deeply", Here());
  while (!Done() && (!AtWordEnd() || At("<(") || At(">("))) Piece(Place::kWord, &word);
  --depth_;
  return word;
}

// The right side of =~, where parentheses and bars need no quotes.
ShellWord ShellParser::RegularExpression() {
  ShellWord word;
  int open = 0;
  while (!Done() && Peek() != '\n') {
    const char c = Peek();
    if (open == 0 && (c == ' ' || c == '\t' || c == ')')) break;
    if (c == '(') ++open;
    if (c == ')') --open;
    if (c != '\0' && std::strchr(" \t()<>|&;", c) != nullptr)
      word.push_back({ShellAtom::Kind::kChar, false, text_[at_++]});
    else
      Piece(Place::kWord, &word);
  }
  return word;
}

std::vector<ShellWord> ShellParser::AllWords() {
  std::vector<ShellWord> words;
  list_ = true;
  while (true) {
    SkipLines();
    if (Done()) return words;
    if (AtWordEnd()) {
      Fail(fmt::format("unexpected '{}' in a list of arguments; quote it", Peek()), Here());
      return words;
    }
    words.push_back(Word());
  }
}

ShellWord ShellParser::Until(const std::string& ends, Place place) {
  ShellWord word;
  int open = 0;
  if (++depth_ > kMaxNesting) Fail("expansions are nested too deeply", Here());
  const bool arithmetic = place == Place::kArithmetic;
  while (!Done()) {
    const char c = AtUnresolved() ? '\0' : Peek();
    if (open == 0 && c != '\0' && ends.find(c) != std::string::npos) break;
    if ((c == '(' || c == '[') && arithmetic) ++open;
    if ((c == ')' || c == ']') && arithmetic) --open;
    Piece(place, &word);
  }
  --depth_;
  return word;
}

// Reads one character, quotation or expansion.
void ShellParser::Piece(Place place, ShellWord* word) {
  const bool quoted = place == Place::kQuoted || place == Place::kArithmetic;
  const char c = AtUnresolved() ? '\0' : Peek();
  if (c == '\'' && place != Place::kQuoted) return SingleQuoted(word);
  if (c == '"') return DoubleQuoted(word);
  if (c == '\\') return Escape(quoted, word);
  if (c == '`') return Backquoted(quoted, word);
  if (c == '$') return Dollar(quoted, word);
  if (place == Place::kWord && (c == '<' || c == '>')) {
    const size_t begin = at_;
    auto process = std::make_shared<ShellExpansion>();
    process->kind = ShellExpansion::Kind::kProcess;
    at_ += 2;
    Substitution(process.get());
    return Add(process, begin, quoted, word);
  }
  word->push_back({ShellAtom::Kind::kChar, quoted, text_[at_++]});
}

void ShellParser::SingleQuoted(ShellWord* word) {
  const ShellChar begin = text_[at_++];
  word->push_back({ShellAtom::Kind::kQuotes, true, begin});
  while (!Done() && (AtUnresolved() || Peek() != '\'')) {
    word->push_back({ShellAtom::Kind::kChar, true, text_[at_++]});
  }
  if (!Take("'")) Fail("no closing ' for this quote", begin);
}

void ShellParser::DoubleQuoted(ShellWord* word) {
  const ShellChar begin = text_[at_++];
  word->push_back({ShellAtom::Kind::kQuotes, true, begin});
  const ShellWord inside = Until("\"", Place::kQuoted);
  word->insert(word->end(), inside.begin(), inside.end());
  if (!Take("\"")) Fail("no closing \" for this quote", begin);
}

// $'...'
void ShellParser::AnsiQuoted(ShellWord* word) {
  const ShellChar begin = text_[at_];
  at_ += 1;
  word->push_back({ShellAtom::Kind::kQuotes, true, begin});
  while (!Done() && (AtUnresolved() || Peek() != '\'')) {
    ShellChar c = text_[at_++];
    if (c.c == '\\' && !Done()) {
      const char* const from = "abefnrtv\\'\"?";
      const char* const to = "\a\b\033\f\n\r\t\v\\'\"?";
      const char* const found = Peek() == '\0' ? nullptr : std::strchr(from, Peek());
      if (found == nullptr) {
        Fail(fmt::format("'\\{}' in $'...' is not understood; write the character itself", Peek()),
             c);
        return;
      }
      c.c = to[found - from];
      ++at_;
    }
    word->push_back({ShellAtom::Kind::kChar, true, c});
  }
  if (!Take("'")) Fail("no closing ' for this quote", begin);
}

// Inside quotes, a backslash is special only before some characters.
void ShellParser::Escape(bool quoted, ShellWord* word) {
  const char next = Peek(1);
  if (next == '\n') {
    at_ += 2;
    return;
  }
  const bool plain = quoted && (next == '\0' || std::strchr("$`\"\\", next) == nullptr);
  if (plain || at_ + 1 >= text_.size()) {
    word->push_back({ShellAtom::Kind::kChar, true, text_[at_++]});
    return;
  }
  word->push_back({ShellAtom::Kind::kChar, true, text_[at_ + 1]});
  at_ += 2;
}

void ShellParser::Add(std::shared_ptr<ShellExpansion> expansion, size_t begin, bool quoted,
                      ShellWord* word) {
  expansion->at = text_[begin];
  expansion->source = SourceFrom(begin);
  word->push_back({ShellAtom::Kind::kExpansion, quoted, text_[begin], std::move(expansion)});
}

void ShellParser::Backquoted(bool quoted, ShellWord* word) {
  const size_t begin = at_++;
  while (!Done() && (AtUnresolved() || Peek() != '`')) at_ += Peek() == '\\' ? 2 : 1;
  if (!Take("`")) return Fail("no closing ` for this command", text_[begin]);
  auto expansion = std::make_shared<ShellExpansion>();
  expansion->kind = ShellExpansion::Kind::kCommand;
  Add(expansion, begin, quoted, word);
}

void ShellParser::Dollar(bool quoted, ShellWord* word) {
  const size_t begin = at_++;
  auto expansion = std::make_shared<ShellExpansion>();
  if (AtUnresolved()) {
    word->push_back({ShellAtom::Kind::kChar, true, text_[begin]});
    return;
  }
  if (Peek() == '\'' && !quoted) return AnsiQuoted(word);
  if (Peek() == '"' && !quoted) return DoubleQuoted(word);
  if (At("((")) {
    at_ += 2;
    expansion->kind = ShellExpansion::Kind::kArithmetic;
    if (Arithmetic(&expansion->word)) return Add(expansion, begin, quoted, word);
    at_ = begin + 1;
  }
  if (Peek() == '[') {  // an old form of $((...))
    ++at_;
    expansion->kind = ShellExpansion::Kind::kArithmetic;
    expansion->word = Until("]", Place::kArithmetic);
    if (!Take("]")) Fail("no ']' for '$['", text_[begin]);
    return Add(expansion, begin, quoted, word);
  }
  if (Peek() == '(') {
    ++at_;
    expansion->kind = ShellExpansion::Kind::kCommand;
    Substitution(expansion.get());
    return Add(expansion, begin, quoted, word);
  }
  expansion->kind = ShellExpansion::Kind::kParameter;
  if (Peek() == '{') {
    ++at_;
    Parameter(quoted, expansion.get());
  } else if (IsDigit(Peek()) || IsSpecialParameter(Peek())) {
    expansion->name = Peek();
    if (Peek() == '@' || Peek() == '*') expansion->list = expansion->name;
    ++at_;
  } else {
    for (; IsNameCharacter(Peek()); ++at_) expansion->name += Peek();
    if (expansion->name.empty()) {  // a literal dollar sign
      word->push_back({ShellAtom::Kind::kChar, true, text_[begin]});
      return;
    }
  }
  Add(expansion, begin, quoted, word);
}

// Reads up to the "))" that ends an arithmetic expression; returns false if there is none, as in
// $((a) | (b)).
bool ShellParser::Arithmetic(ShellWord* word) {
  *word = Until(")", Place::kArithmetic);
  if (failure_.has_value()) return false;
  return Take("))");
}

void ShellParser::Substitution(ShellExpansion* expansion) {
  const ShellChar begin = text_[at_ - 1];
  expansion->command = Sequence(")");
  SkipLines();
  if (!Take(")")) Fail(fmt::format("no ')' for the '(' in line {}", begin.line), begin);
}

// Reads the rest of ${...}.
void ShellParser::Parameter(bool quoted, ShellExpansion* expansion) {
  const ShellChar begin = text_[at_ - 1];
  if (++depth_ > kMaxNesting) Fail("expansions are nested too deeply", begin);
  if (ParameterName(expansion)) ParameterOperation(quoted, expansion);
  if (Peek() != '}' || AtUnresolved()) {
    // A form that is not understood, up to its end.
    expansion->kind = ShellExpansion::Kind::kNotUnderstood;
    Until("}", Place::kBraces);
  }
  if (!Take("}")) Fail("no '}' for '${'", begin);
  --depth_;
}

bool ShellParser::ParameterName(ShellExpansion* expansion) {
  if (Peek() == '#' && Peek(1) != '}') {
    const char next = Peek(1);
    expansion->length = IsNameCharacter(next) || next == '@' || next == '*';
    if (expansion->length) ++at_;
  }
  if (Peek() == '!' && IsNameStart(Peek(1))) {
    expansion->indirect = true;
    ++at_;
  }
  if (IsSpecialParameter(Peek()) && !AtUnresolved()) {
    expansion->name = Peek();
    if (Peek() == '@' || Peek() == '*') expansion->list = expansion->name;
    ++at_;
  } else if (IsDigit(Peek())) {
    for (; IsDigit(Peek()); ++at_) expansion->name += Peek();
  } else {
    for (; IsNameCharacter(Peek()); ++at_) expansion->name += Peek();
  }
  if (expansion->name.empty()) return false;
  if (Peek() != '[') return true;
  ++at_;
  expansion->index = Until("]", Place::kBraces);
  if (!Take("]")) return false;
  const std::string literal = LiteralWord(expansion->index).value_or("");
  if (literal == "@" || literal == "*")
    expansion->list = literal;
  else
    expansion->has_index = true;
  return true;
}

void ShellParser::ParameterOperation(bool quoted, ShellExpansion* expansion) {
  static constexpr const char* kOperations[] = {":-", ":=", ":?", ":+", "-",  "=",  "?",
                                                "+",  "##", "#",  "%%", "%",  "//", "/#",
                                                "/%", "/",  "^^", "^",  ",,", ",",  ":"};
  for (const char* operation : kOperations) {
    if (!expansion->operation.empty() || !Take(operation)) continue;
    expansion->operation = operation;
  }
  const std::string& operation = expansion->operation;
  if (operation.empty()) return;
  const char first = operation[0];
  if (operation == ":") {
    expansion->word = Until(":}", Place::kArithmetic);
    expansion->has_word2 = Take(":");
    if (expansion->has_word2) expansion->word2 = Until("}", Place::kArithmetic);
  } else if (first == '/') {
    expansion->word = Until("/}", Place::kBraces);
    expansion->has_word2 = Take("/");
    if (expansion->has_word2) expansion->word2 = Until("}", Place::kBraces);
  } else {
    const bool pattern = first == '#' || first == '%' || first == '^' || first == ',';
    expansion->word = Until("}", quoted && !pattern ? Place::kQuoted : Place::kBraces);
  }
}

ShellWord ShellParser::Document(const ShellText& text) {
  ShellParser inner(text);
  inner.depth_ = depth_ + 1;
  ShellWord word;
  while (!inner.Done()) {
    // Quotes have no meaning in a here-document.
    const char c = inner.Peek();
    if (inner.AtUnresolved() || (c != '$' && c != '`' && c != '\\'))
      word.push_back({ShellAtom::Kind::kChar, true, text[inner.at_++]});
    else if (c == '\\' && inner.Peek(1) == '"')
      word.push_back({ShellAtom::Kind::kChar, true, text[inner.at_++]});
    else
      inner.Piece(Place::kQuoted, &word);
  }
  if (inner.failure_.has_value()) Fail(inner.failure_->message, inner.failure_->at);
  return word;
}

}  // namespace drydock
