// What a shell knows at one point of a script: variables, arguments, functions. A value that the
// script does not determine is unknown, with the reason.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_STATE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workload-gen/import/shell/shell_syntax.h"

namespace drydock {

// A value that is not known.
struct ShellUnknown {
  enum class Kind : uint8_t {
    kNotAssigned,   // the script takes it from its caller; tests take it as empty
    kScriptFolder,  // the folder of the script
    kOther
  };
  std::string what;      // "$NODES", "$(nproc)"
  std::string why;       // a sentence; may be empty for kNotAssigned
  std::string variable;  // that a user may give instead; may be empty
  Kind kind = Kind::kOther;
  ShellChar at;
};

// Unknown values of a script, its files, and how much more may be expanded and run.
class ShellSession {
 public:
  int32_t Add(ShellUnknown unknown);
  ShellText Text(int32_t id, const ShellChar& at) const;
  const ShellUnknown& Of(const ShellChar& unresolved) const;
  const ShellUnknown& Of(int32_t id) const { return unknowns_[static_cast<size_t>(id)]; }
  // Makes the user's remedy name `variable`, unless it names one.
  void NameVariable(int32_t id, const std::string& variable);

  // The first argument of the script in `text` that its caller gives, "$2"; "" if there is none.
  std::string MissingArgumentOf(const ShellText& text) const;
  // Arguments that the script reads and that nobody gives: their numbers, each with the variable
  // that it is assigned to first, or "".
  const std::map<int64_t, std::string>& missing_arguments() const { return missing_arguments_; }
  // `value` is assigned to `variable`.
  void NoteAssigned(const ShellText& value, const std::string& variable);

  // Counts characters that expansions make, and commands. Returns false at the limit.
  bool Spend(size_t characters);
  bool exhausted() const { return left_ == 0; }

  struct File {
    std::string name, text;
  };
  std::vector<File> files;
  // The variables that a line of the script assigns, on whatever path, with the first such line.
  std::map<std::string, int32_t> assigned_lines;

 private:
  std::vector<ShellUnknown> unknowns_;
  std::map<int64_t, std::string> missing_arguments_;
  size_t left_ = size_t{4} << 20;
};

struct ShellVariable {
  enum class Form : uint8_t { kText, kArray, kMap };
  Form form = Form::kText;
  bool is_set = false;                     // otherwise only its attributes are known
  int32_t unknown = -1;                    // the whole value is unknown: a ShellUnknown
  std::map<int64_t, ShellText> elements;   // kText: element 0
  std::map<std::string, ShellText> keyed;  // kMap
  bool fixed = false;                      // given by the user
  bool exported = false, readonly = false, integer = false;
  char letters = '\0';  // declare -l, -u: 'l' or 'u'

  // The value as text: element 0.
  const ShellText* text() const;
  std::vector<ShellText> all() const;
};

class ShellState {
 public:
  explicit ShellState(ShellSession* session) : session_(session) {}

  // Sets a value that the user gives. Assignments in the script do not change it. "1" is the first
  // argument of the script; "@" is all of them, separated by blanks.
  void Fix(const std::string& name, const std::string& value);
  // Returns nothing for a variable that the script has not touched.
  const ShellVariable* Find(const std::string& name) const;
  // Returns a variable to change, or nothing for one that the user fixed. A readonly one is a
  // mistake: see changed_readonly().
  ShellVariable* Change(const std::string& name);
  void AssignText(const std::string& name, const ShellText& value);
  void Unset(const std::string& name);
  // Makes a variable, or all of them, unknown.
  // A readonly variable keeps its value.
  void Forget(const std::string& name, const std::string& why, const ShellChar& at);
  // `keeps_separators`: not IFS, which no file of settings changes.
  void ForgetAll(const std::string& why, const ShellChar& at, bool keeps_separators = false);
  // The same, and whatever the script assigns to it later.
  void Distrust(const std::string& name, const std::string& why, const ShellChar& at);
  void DistrustAll(const std::string& why, const ShellChar& at);

  // Returns the unknown that a name stands for whatever the script assigns to it.
  std::optional<int32_t> Distrusted(const std::string& name, const ShellChar& at) const;
  // Returns the unknown that a name without a value stands for.
  int32_t Unassigned(const std::string& name, const ShellChar& at) const;
  // Makes what differs in `other` unknown. A path that has ended adds nothing.
  void Join(const ShellState& other, const std::string& why, const ShellChar& at);
  bool SameAs(const ShellState& other) const;
  // Returns the variables whose value or attributes differ.
  std::vector<std::string> Differences(const ShellState& other) const;
  // Leaves what a program sees that the script starts: exported texts, or only what the user gave.
  void KeepExported(bool exported);

  ShellSession& session() const { return *session_; }
  std::vector<std::string> Names() const;
  const std::string& changed_readonly() const { return changed_readonly_; }
  // Readies the arguments that the user fixed.
  void TakeFixedArguments();

  bool alive = true;  // the script has not ended
  // $1, $2, ...
  std::vector<ShellText> arguments;
  bool top_arguments = true;    // of the script itself: its caller may give more
  size_t shifted = 0;           // arguments of the script that `shift` has dropped
  int32_t lost_arguments = -1;  // they are this unknown
  std::map<std::string, ShellCommandPtr> functions;  // null: not known which
  bool unknown_functions = false;  // a command may be a function that the script does not show
  bool no_globs = false;           // set -f
  bool odd_patterns = false;       // shopt: patterns have another meaning
  enum class Folder : uint8_t { kCaller, kScript, kUnknown };
  Folder folder = Folder::kCaller;  // the current one: of the caller, until cd
  std::set<std::string> options;    // of set -o, as far as they matter here
  // For each function that runs: the variables that its local ones hide.
  std::vector<std::map<std::string, std::shared_ptr<const ShellVariable>>> locals;

 private:
  using Pointer = std::shared_ptr<const ShellVariable>;

  ShellSession* session_;
  std::map<std::string, Pointer> variables_;
  int32_t everything_ = -1;  // variables without an entry are this unknown
  std::map<std::string, int32_t> distrusted_;
  int32_t distrusts_all_ = -1;
  std::string changed_readonly_;

  friend class ShellScope;
};

// Local variables of a function, and assignments before a command: what they hide returns at the
// end.
class ShellScope {
 public:
  static void Hide(ShellState* state, const std::string& name,
                   std::map<std::string, std::shared_ptr<const ShellVariable>>* hidden);
  static void Restore(ShellState* state,
                      const std::map<std::string, std::shared_ptr<const ShellVariable>>& hidden);
};

// True for variables that bash changes by itself, such as RANDOM.
bool IsVariableOfBash(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_STATE_H_
