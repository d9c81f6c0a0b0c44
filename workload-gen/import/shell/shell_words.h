// The words of a shell script as its shell would see them, with the place of each character: what
// a launch script says about a training run stands in variables and arrays that it assigns itself.
//
// Understood: quotes, backslashes, line continuations, $NAME, ${NAME}, ${NAME:-default} and its
// kin, arrays, $((arithmetic)). A value that the text does not tell (a variable that is not
// assigned, an argument of the script, what a command prints) is an unresolved character: it can
// stand in a word that nobody needs. Nothing is run, no variable of the environment is read.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_WORDS_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_WORDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace drydock {

struct ShellChar {
  char c = 0;
  int32_t line = 0, column = 0;  // 1-based
  int32_t unresolved = -1;       // index into ShellVariables::names; then c is 0
};
using ShellText = std::vector<ShellChar>;

std::string PlainText(const ShellText& text);
bool IsResolved(const ShellText& text);
// `text` with the place of every character; columns count characters, not bytes.
ShellText WithPlaces(const std::string& text);

class ShellVariables {
 public:
  // A value that the user gave: assignments in the script do not change it.
  void Fix(const std::string& name, const std::string& value);
  void Assign(const std::string& name, const std::vector<ShellText>& value, bool append);
  // The script's own assignment depends on something that the text does not tell.
  void Forget(const std::string& name, const std::string& why);

  const std::vector<ShellText>* Find(const std::string& name) const;
  // A value that is not known, at the place of `at`. `what` is for messages: "$NODES".
  ShellText Unknown(const std::string& what, const ShellChar& at);
  const std::string& NameOf(const ShellChar& unresolved) const;

  // Characters that expansions have made so far are limited; false once that is reached.
  bool Spend(size_t characters);
  bool exhausted() const { return left_ == 0; }

 private:
  struct Variable {
    std::vector<ShellText> values;
    bool fixed = false;
  };
  std::map<std::string, Variable> variables_;
  std::vector<std::string> names_;
  size_t left_ = size_t{4} << 20;
};

// Reads one word at `*at` of `text` and stops behind it. Unquoted blanks and operators end it.
// `split`: what variables hold is split at blanks, as in a command; not so in an assignment. A word
// may come to none or several fields.
class ShellWordReader {
 public:
  ShellWordReader(const ShellText& text, size_t* at, ShellVariables* variables, int depth = 0)
      : text_(text), at_(*at), variables_(*variables), depth_(depth) {}

  std::vector<ShellText> Read(bool split);

 private:
  bool Done() const { return at_ >= text_.size(); }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead].c : '\0';
  }
  void Add(const ShellChar& c);
  void Close();
  void AddValues(const std::vector<ShellText>& values, bool quoted, bool each);
  void ReadSingleQuoted();
  void ReadDoubleQuoted();
  void ReadEscape(bool quoted);
  void ReadDollar(bool quoted);
  void ReadBraces(const ShellChar& start, bool quoted);
  void ReadArithmetic(const ShellChar& start, bool quoted);
  void SkipCommand(const ShellChar& start, char end, bool quoted);
  std::optional<ShellText> Inside(const char* end);
  std::vector<ShellText> Value(const std::string& name, const ShellChar& at);
  void AddUnknown(const std::string& what, const ShellChar& at);

  const ShellText& text_;
  size_t& at_;
  ShellVariables& variables_;
  int depth_;  // of defaults inside defaults
  bool split_ = true;
  std::vector<ShellText> fields_;
  ShellText current_;
  bool open_ = false;  // current_ is a field, be it empty
};

bool IsShellOperator(char c);  // ends a word: one of ;&|()<> and line breaks
bool IsNameCharacter(char c);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_WORDS_H_
