// Turns words into what a command sees: expansions, splitting, names of files.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_EXPANSION_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_EXPANSION_H_

#include <optional>
#include <string>
#include <vector>

#include "workload-gen/import/shell/shell_arithmetic.h"
#include "workload-gen/import/shell/shell_pattern.h"
#include "workload-gen/import/shell/shell_state.h"
#include "workload-gen/import/shell/shell_syntax.h"

namespace drydock {

// A mistake at which bash ends the script, such as a division by 0.
struct ShellMistake {
  std::string message;
  ShellChar at;
};

class ShellExpander {
 public:
  explicit ShellExpander(ShellState* state) : state_(*state) {}

  // The words of a command: a word may become none or several.
  std::vector<ShellText> Fields(const ShellWord& word);
  std::vector<ShellText> AllFields(const std::vector<ShellWord>& words);
  // {a,b} and {1..4}.
  std::vector<ShellWord> Braces(const ShellWord& word) const;
  // One text, as in an assignment: not split.
  ShellText Text(const ShellWord& word);
  // Nothing if a part is not known.
  std::optional<ShellPattern> Pattern(const ShellWord& word);
  ShellNumber Number(const ShellWord& expression);
  ShellNumber NumberOf(const ShellText& expression);

  // Assigns to NAME or NAME[index], with the attributes of the variable.
  void Assign(const ShellAssignment& assignment);
  void AssignElement(const std::string& name, const ShellWord* index, const ShellText& value,
                     bool append, const ShellChar& at);
  // Splits at the characters of IFS as `read` and unquoted expansions do.
  std::vector<ShellText> Split(const ShellText& text);
  // The characters that separate words; nothing if they are not known.
  std::optional<std::string> Separators();

  const std::optional<ShellMistake>& mistake() const { return mistake_; }
  bool subscripts = false;  // NAME[index] in a word is an element, and not the name of files

 private:
  // A character of a word that is being expanded.
  struct Char {
    ShellChar c;
    bool quoted = false;
  };
  using Chars = std::vector<Char>;
  // What a parameter is.
  struct Operand {
    enum class Set : uint8_t { kNo, kNotAssigned, kYes, kUnknown };
    Set set = Set::kNo;
    std::vector<ShellText> values;
    bool list = false;     // "@" or "*"
    bool joined = false;   // "*"
    int32_t unknown = -1;  // kUnknown, kNotAssigned
  };

  void Begin(bool split);
  std::vector<Chars> Finish();
  void AddChar(const ShellChar& c, bool quoted);
  void Close();
  void AddWord(const ShellWord& word, bool assignment);
  void AddAtom(const ShellAtom& atom);
  void AddText(const ShellText& text, bool quoted, const ShellChar& at);
  void AddValues(const Operand& operand, bool quoted, const ShellChar& at);
  void AddUnknown(int32_t id, bool quoted, const ShellChar& at);
  void AddUnknown(const std::string& what, const std::string& why, bool quoted,
                  const ShellChar& at);
  void AddCommand(const ShellExpansion& expansion, bool quoted);
  void AddTilde(const ShellWord& word, size_t* at, bool assignment);

  // ${...} (shell_parameter.cc).
  void AddParameter(const ShellExpansion& expansion, bool quoted);
  Operand Lookup(const std::string& name, const ShellExpansion& expansion);
  Operand Arguments(const ShellExpansion& expansion);
  Operand Element(const ShellVariable& variable, const std::string& name,
                  const ShellExpansion& expansion);
  Operand UnknownOperand(const ShellExpansion& expansion, const std::string& name, int32_t cause);
  bool AddDefault(const ShellExpansion& expansion, const Operand& operand, bool quoted);
  void AddInner(const ShellWord& word, bool quoted);
  void AddLength(const ShellExpansion& expansion, const Operand& operand, bool quoted);
  void AddKeys(const ShellExpansion& expansion, const std::string& name, bool quoted);
  void AddSlice(const ShellExpansion& expansion, Operand operand, bool quoted);
  std::optional<ShellText> Changed(const ShellExpansion& expansion,
                                   const std::optional<ShellPattern>& pattern,
                                   const ShellText& replacement, const ShellText& value) const;

  ShellText FileNames(const Chars& field);
  ShellText Plain(const Chars& chars) const;
  void Fail(const std::string& message, const ShellChar& at);

  ShellState& state_;
  bool split_ = true;
  std::vector<Chars> fields_;
  Chars current_;
  bool open_ = false;  // current_ is a field, even if it is empty
  int depth_ = 0;
  std::optional<ShellMistake> mistake_;
};

// The variables of arithmetic.
class ShellStateNumbers : public ShellNumberNames {
 public:
  ShellStateNumbers(ShellState* state, const ShellChar& at, const std::string& why)
      : state_(*state), at_(at), why_(why) {}
  std::optional<std::string> Get(const std::string& name, std::optional<int64_t> index) override;
  void Set(const std::string& name, std::optional<int64_t> index,
           std::optional<int64_t> value) override;
  void Lose(const std::string& name) override;

 private:
  ShellState& state_;
  const ShellChar at_;
  const std::string why_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_EXPANSION_H_
