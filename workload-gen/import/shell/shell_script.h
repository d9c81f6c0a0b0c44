// Follows a shell script as bash runs it: assignments, conditions, loops, functions, and the
// commands that it would start. Nothing is started, and no environment variable is read.
//
// Where the script does not decide (a condition on a file, the output of a command), all paths are
// followed from the same state, and what they leave different is unknown afterwards.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workload-gen/import/shell/shell_condition.h"
#include "workload-gen/import/shell/shell_expansion.h"
#include "workload-gen/import/shell/shell_parser.h"
#include "workload-gen/import/shell/shell_state.h"

namespace drydock {

class ShellScript {
 public:
  using Words = std::vector<ShellText>;
  // A command that may run, and the state in which it runs.
  struct Started {
    Words words;
    ShellState state;
  };
  // Says whether the caller looks for a command. Commands inside sh -c "..." and eval count too.
  using IsWanted = std::function<bool(const Words& words)>;
  // Returns the text of a file beside the script, for `source`.
  using ReadBeside = std::function<std::optional<std::string>(const std::string& path)>;

  ShellScript(ShellState state, IsWanted is_wanted, ReadBeside read_beside);

  // Returns the mistake at which bash, or this reader, gives up.
  std::optional<ShellFailure> Run(const ShellText& text);
  const std::vector<Started>& started() const { return started_; }
  // The `exit` or `exec` that ends the script, if one surely does.
  std::optional<ShellChar> end() const {
    return state_.alive ? std::optional<ShellChar>() : ended_;
  }

 private:
  using Truth = ShellTruth;
  using Part = std::function<ShellAnswer()>;  // commands to run, or a condition to evaluate

  // Where the paths of a loop go that leave its body.
  struct Loop {
    std::vector<ShellState> breaks, continues;
  };
  // Where the paths of a function or a sourced file go that return.
  struct Frame {
    std::vector<ShellState> returns;
    std::vector<Truth> results;
  };

  void Fail(const std::string& message, const ShellChar& at);
  bool Stopped() const { return !state_.alive || failure_.has_value(); }
  void Check(const ShellExpander& expander, const ShellChar& at);

  // shell_script.cc
  bool RunText(const ShellText& text, bool hard, ShellAnswer* answer = nullptr);
  ShellAnswer Run(const ShellCommand& command);
  ShellAnswer RunKind(const ShellCommand& command);
  ShellAnswer Pipeline(const ShellCommand& command);
  ShellAnswer AndOr(const ShellCommand& command);
  ShellAnswer If(const ShellCommand& command, size_t at);
  // Runs `first`; if the script ends in it, runs `second` instead: then the caller gives the
  // variable that `first` takes as empty.
  ShellAnswer Assumed(const Part& first, const Part& second);
  // Runs both from the same state and joins what they leave.
  ShellAnswer Either(const Part& first, const Part& second, const std::string& why,
                     const ShellChar& at);
  ShellAnswer Subshell(const Part& body);
  ShellAnswer While(const ShellCommand& command);
  ShellAnswer For(const ShellCommand& command);
  ShellAnswer ForArithmetic(const ShellCommand& command);
  void RunLoop(const Part& condition, const Part& blind, const std::function<void()>& body,
               const std::string& why, const ShellChar& at, bool stands_still);
  void RunBlindly(const Part& condition, const std::function<void()>& body, const std::string& why,
                  const ShellChar& at, std::optional<ShellState>* exit);
  void Iterate(const std::function<void()>& body, const std::string& why, const ShellChar& at);
  ShellAnswer Case(const ShellCommand& command);
  Truth MatchesArm(const ShellText& word, const ShellCaseArm& arm);
  ShellAnswer CaseFrom(const ShellCommand& command, const ShellText& word, size_t arm);
  ShellAnswer Coprocess(const ShellCommand& command);
  // Expands the words of redirections. Returns what the command reads, if the script has it.
  std::optional<ShellText> Redirect(const ShellCommand& command);

  // shell_commands.cc
  ShellAnswer Simple(const ShellCommand& command);
  ShellAnswer Named(Words words, const ShellCommand& command);
  ShellAnswer Unnamed(const Words& words, const ShellCommand& command);
  ShellAnswer Call(const ShellCommandPtr& body, const Words& words);
  ShellAnswer External(const Words& words);
  struct Child;
  static std::optional<Child> ChildOf(const Words& words, size_t at);
  void RunChild(const ShellText& text, Words arguments, bool passes);
  bool RunFileBeside(const ShellText& name, Words arguments, bool passes);
  bool ChildShell(const Words& words);
  bool BatchScript(const Words& words, const ShellCommand& command);
  bool IsBatchFile(const ShellText& word) const;
  ShellAnswer Returned(ShellAnswer answer, const std::string& why, const ShellChar& at);

  // shell_builtins.cc: the commands that change the shell's own state.
  using Builtin = ShellAnswer (ShellScript::*)(const Words& words, const ShellCommand& command);
  static Builtin FindBuiltin(const std::string& name);
  ShellAnswer Declare(const Words& words, const ShellCommand& command);
  ShellAnswer Read(const Words& words, const ShellCommand& command);
  ShellAnswer MapFile(const Words& words, const ShellCommand& command);
  ShellAnswer Printf(const Words& words, const ShellCommand& command);
  ShellAnswer Let(const Words& words, const ShellCommand& command);
  ShellAnswer Set(const Words& words, const ShellCommand& command);
  ShellAnswer Shift(const Words& words, const ShellCommand& command);
  ShellAnswer Unset(const Words& words, const ShellCommand& command);
  ShellAnswer Eval(const Words& words, const ShellCommand& command);
  ShellAnswer Source(const Words& words, const ShellCommand& command);
  ShellAnswer Exec(const Words& words, const ShellCommand& command);
  ShellAnswer Exit(const Words& words, const ShellCommand& command);
  ShellAnswer Return(const Words& words, const ShellCommand& command);
  ShellAnswer LeaveLoop(const Words& words, const ShellCommand& command);
  ShellAnswer Trap(const Words& words, const ShellCommand& command);
  ShellAnswer GetOptions(const Words& words, const ShellCommand& command);
  ShellAnswer ChangeFolder(const Words& words, const ShellCommand& command);
  ShellAnswer Test(const Words& words, const ShellCommand& command);
  ShellAnswer Succeed(const Words& words, const ShellCommand& command);
  ShellAnswer NotSucceed(const Words& words, const ShellCommand& command);
  ShellAnswer Alias(const Words& words, const ShellCommand& command);
  ShellAnswer ShellOptions(const Words& words, const ShellCommand& command);
  ShellAnswer Wait(const Words& words, const ShellCommand& command);

  struct Declaration;
  void DeclareOne(const Declaration& declaration, const ShellAssignment* assignment,
                  const std::string& name);
  void Refer(const std::string& name, const ShellAssignment* assignment, const ShellChar& at);
  void AssignWord(const std::string& name, const ShellText& value, const ShellChar& at);
  void LoseWord(const ShellText& name, const std::string& why, const ShellChar& at);
  std::optional<std::string> Formatted(const Words& words, size_t format) const;
  void SetOption(const std::string& name, bool on, const ShellChar& at);
  std::optional<std::string> PathBeside(const ShellText& word) const;

  ShellState state_;
  ShellSession& session_;
  const IsWanted is_wanted_;
  const ReadBeside read_beside_;
  std::vector<Loop> loops_;
  std::vector<Frame> frames_;
  bool in_outer_loop_ = false;      // a subshell runs in a loop
  std::optional<ShellText> input_;  // of the command that runs: <<< "text", or a here-document
  int depth_ = 0;
  int mute_ = 0;  // commands do not count
  std::vector<Started> started_;
  std::optional<ShellChar> ended_;
  size_t escapes_ = 0;  // break, continue and return
  std::optional<ShellFailure> failure_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SCRIPT_H_
