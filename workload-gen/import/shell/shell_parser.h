// Parses a shell script as bash does, one complete command at a time.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_PARSER_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_PARSER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload-gen/import/shell/shell_syntax.h"

namespace drydock {

struct ShellFailure {
  std::string message;
  ShellChar at;
};

class ShellParser {
 public:
  explicit ShellParser(const ShellText& text) : text_(text) {}

  // Returns the next line's commands, or none at the end and after a mistake: see failure().
  ShellCommandPtr Next();
  // Reads all words up to the end, as in a list of arguments: line breaks are blanks, parentheses
  // are characters.
  std::vector<ShellWord> AllWords();
  const std::optional<ShellFailure>& failure() const { return failure_; }

 private:
  struct PendingDocument {
    ShellCommandPtr command;  // the redirection is of this command
    size_t index = 0;
    std::string end;
    bool strip = false, quoted = false;
  };

  bool Done() const { return at_ >= text_.size() || failure_.has_value(); }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead].c : '\0';
  }
  bool AtUnresolved() const { return at_ < text_.size() && text_[at_].unresolved >= 0; }
  bool AtWordEnd() const {
    const bool literal = list_ && (Peek() == '(' || Peek() == ')');
    return Done() || (!AtUnresolved() && !literal && EndsShellWord(Peek()));
  }
  bool At(const char* text) const;
  bool Take(const char* text);
  ShellChar Here() const;
  void Fail(const std::string& message, const ShellChar& at);
  std::string SourceFrom(size_t begin) const;

  // Commands (shell_parser.cc).
  void SkipBlanks();
  void SkipLines();
  void ReadHereDocuments();
  std::string PeekReserved() const;
  bool TakeReserved(const char* word);
  void ExpectReserved(const char* word, const char* after, const ShellChar& begin);
  ShellCommandPtr Make(ShellCommand::Kind kind) const;
  ShellCommandPtr Sequence(const char* end, bool one_line = false);
  ShellCommandPtr AndOr();
  ShellCommandPtr Pipeline();
  ShellCommandPtr Command();
  ShellCommandPtr Compound();
  ShellCommandPtr If();
  ShellCommandPtr While(ShellCommand::Kind kind);
  ShellCommandPtr For(ShellCommand::Kind kind);
  ShellCommandPtr Case();
  ShellCommandPtr Test();
  ShellCommandPtr Function(bool keyword);
  ShellCommandPtr Coprocess();
  ShellCommandPtr Simple();
  ShellCommandPtr DoGroup();
  void CaseArm(ShellCommand* command);
  bool AtFunction() const;
  bool Redirection(const ShellCommandPtr& command);
  bool AtAssignment() const;
  ShellAssignment Assignment();
  void Array(ShellAssignment* assignment);

  // Words (shell_parser_words.cc).
  enum class Place : uint8_t { kWord, kQuoted, kBraces, kArithmetic };
  ShellWord Word();
  ShellWord RegularExpression();
  // Reads up to one of `ends` outside of quotes and nested expansions, without taking it.
  ShellWord Until(const std::string& ends, Place place);
  void Piece(Place place, ShellWord* word);
  void SingleQuoted(ShellWord* word);
  void DoubleQuoted(ShellWord* word);
  void AnsiQuoted(ShellWord* word);
  void Escape(bool quoted, ShellWord* word);
  void Dollar(bool quoted, ShellWord* word);
  void Backquoted(bool quoted, ShellWord* word);
  void Add(std::shared_ptr<ShellExpansion> expansion, size_t begin, bool quoted, ShellWord* word);
  void Parameter(bool quoted, ShellExpansion* expansion);
  bool ParameterName(ShellExpansion* expansion);
  void ParameterOperation(bool quoted, ShellExpansion* expansion);
  bool Arithmetic(ShellWord* word);
  void Substitution(ShellExpansion* expansion);
  // Parses `text` as if it stood in double quotes.
  ShellWord Document(const ShellText& text);

  const ShellText& text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool list_ = false;  // of arguments: parentheses are characters
  std::vector<PendingDocument> documents_;
  std::optional<ShellFailure> failure_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_PARSER_H_
