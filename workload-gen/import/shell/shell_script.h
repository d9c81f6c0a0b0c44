// Follows a shell script from top to bottom: assignments, if, and the commands that it would start.
// Nothing is started. A variable that is assigned in a loop, in case, or under an undecided
// condition is unknown afterwards. Branches that cannot be taken are skipped.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_

#include <functional>
#include <string>
#include <vector>

#include "workload-gen/import/shell/shell_condition.h"
#include "workload-gen/import/shell/shell_words.h"

namespace drydock {

class ShellScript {
 public:
  using Words = std::vector<ShellText>;
  // Calls `on_command` with each command that may run, without its redirections. Commands inside
  // sh -c "..." and eval count too.
  ShellScript(ShellVariables* variables, std::function<void(const Words&)> on_command)
      : variables_(*variables), on_command_(std::move(on_command)) {}

  void Run(const ShellText& text) { RunNested(text, 0); }
  const std::vector<std::string>& assigned() const { return assigned_; }  // names, in order

 private:
  // A text and the position of the reader.
  struct Cursor {
    const ShellText& text;
    size_t at = 0;
    std::vector<std::string> here_documents = {};

    bool Done() const { return at >= text.size(); }
    char Peek(size_t ahead = 0) const {
      return at + ahead < text.size() ? text[at + ahead].c : '\0';
    }
  };

  // if, a loop, or case.
  struct Block {
    bool is_if = false;
    bool in_condition = false;
    ShellTruth condition = ShellTruth::kUnknown;
    ShellTruth runs = ShellTruth::kTrue;    // the branch that is read
    ShellTruth taken = ShellTruth::kFalse;  // an earlier branch
  };

  void RunNested(const ShellText& text, int depth);
  void Statement(Cursor* cursor, int depth);
  void TakeWords(Cursor* cursor, Words* words, bool* declaring);
  bool TakeKeyword(const std::string& word);
  void BeginBranch();
  void TakeOperator(Cursor* cursor);
  void Redirection(Cursor* cursor, Words* words);
  bool Assignment(Cursor* cursor);
  Words Scalar(Cursor* cursor);
  Words Array(Cursor* cursor);
  void Assign(const std::string& name, const Words& value, bool append);
  void Execute(const Words& words, int depth);
  void Finish(const Words& words);
  ShellTruth Runs() const;

  ShellVariables& variables_;
  const std::function<void(const Words&)> on_command_;
  std::vector<Block> blocks_;
  bool negated_ = false;                      // by "!" before the command
  ShellTruth list_ = ShellTruth::kTrue;       // the result of the commands before && or ||
  ShellTruth list_runs_ = ShellTruth::kTrue;  // the next command of the list
  std::vector<std::string> assigned_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_
