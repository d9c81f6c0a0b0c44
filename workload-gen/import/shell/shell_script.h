// Follows a shell script from top to bottom: its assignments, its if, and the commands it would
// start. Nothing is started. What is assigned in a loop, in case, or under a condition that the
// text does not decide is not known afterwards; branches that are surely not taken are passed over.
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
  // `on_command` sees each command that may be run, its redirections taken away; also those inside
  // sh -c "..." and eval.
  ShellScript(ShellVariables* variables, std::function<void(const Words&)> on_command)
      : variables_(*variables), on_command_(std::move(on_command)) {}

  void Run(const ShellText& text) { RunNested(text, 0); }
  const std::vector<std::string>& assigned() const { return assigned_; }  // names, in order

 private:
  // One text and how far it is read.
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
  ShellTruth list_ = ShellTruth::kTrue;       // what the commands before && or || came to
  ShellTruth list_runs_ = ShellTruth::kTrue;  // the next command of the list
  std::vector<std::string> assigned_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_
