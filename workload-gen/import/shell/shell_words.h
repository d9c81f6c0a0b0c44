// Splits a shell script into the words that its shell would see, with the place of each character.
// Launch scripts keep the arguments of a training run in variables and arrays.
//
// Supports quotes, backslashes, line continuations, $NAME, ${NAME}, ${NAME:-default} and its
// variants, arrays, $((arithmetic)). A value that the text does not define (an unassigned variable,
// an argument of the script, the output of a command) is an unresolved character; it matters only
// in words that are needed. Nothing is run, and no environment variable is read.
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
// Returns `text` with the place of each character. Columns count characters, not bytes.
ShellText WithPlaces(const std::string& text);

class ShellVariables {
 public:
  // Sets a value that the user gives. Assignments in the script do not change it.
  void Fix(const std::string& name, const std::string& value);
  void Assign(const std::string& name, const std::vector<ShellText>& value, bool append);
  // Marks a variable whose assignment depends on a value that the text does not define.
  void Forget(const std::string& name, const std::string& why);

  const std::vector<ShellText>* Find(const std::string& name) const;
  // Returns an unknown value at the place of `at`. `what` is for messages: "$NODES".
  ShellText Unknown(const std::string& what, const ShellChar& at);
  const std::string& NameOf(const ShellChar& unresolved) const;

  // Counts the characters that expansions make. Returns false once the limit is reached.
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

// Reads one word at `*at` of `text` and stops after it. Unquoted blanks and operators end the word.
// With `split`, values of variables are split at blanks, as in a command; in an assignment they are
// not. A word may expand to no field or to several.
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
  bool open_ = false;  // current_ is a field, even if it is empty
};

bool IsShellOperator(char c);  // one of ;&|()<> and line breaks, which end a word
bool IsNameCharacter(char c);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_WORDS_H_
