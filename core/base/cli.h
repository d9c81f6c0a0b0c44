// The command line that all tools share. A tool is a main command and, for some tools, further
// commands ("simccl explain"). Each command declares its flags and does its work; RunTool does the
// rest: parsing, help, version, diagnostics, signals and the exit status:
//   0 complete answer, 1 bad input, 2 wrong usage, 3 internal error, 130 interrupted.
// Every command has --help, --check, -v/--verbose, -q/--quiet and --stats; a command that writes an
// artefact has --if-changed as well.
#ifndef DRYDOCK_CORE_BASE_CLI_H_
#define DRYDOCK_CORE_BASE_CLI_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

// Only a file that declares options needs the whole of CLI11.
namespace CLI {
class App;
}

namespace drydock {

struct ToolInfo {
  std::string name;             // "simccl", "simccl explain"
  std::string summary;          // one line
  std::string files;            // what the tool reads and writes
  std::string example;          // one command line
  bool writes_artefact = true;  // has --if-changed
};

struct CommonOptions {
  bool check = false;  // validate the inputs, write nothing
  bool quiet = false;  // no progress
  bool verbose = false;
  bool stats = false;       // print the tool's own time and memory on stderr
  bool if_changed = false;  // do nothing if inputs, options and executable did not change
  int progress_interval_ms = 30'000;  // in a log; another is for tests, and not in --help
};

// A command of a tool, or the tool itself.
class Command {
 public:
  explicit Command(ToolInfo info) : info_(std::move(info)) {}
  virtual ~Command() = default;
  const ToolInfo& info() const { return info_; }

  // Adds the command's own flags. Parsing fills their values, and `common`, before Run.
  virtual void Declare(CLI::App* app, const CommonOptions& common) = 0;
  // Does the work. RunTool prints the error and ends with exit status 1.
  virtual Status Run(const CommonOptions& common) const = 0;
  // The file or folder that an error of Run concerns if it names no place itself; "" if there is
  // none.
  virtual std::string Subject() const { return ""; }

 private:
  ToolInfo info_;
};

// Returns a command that fills an `Options` from its flags and calls these functions. `subject` is
// Command::Subject.
template <typename Options>
std::unique_ptr<Command> MakeCommand(
    const ToolInfo& info, std::function<void(CLI::App*, Options*, const CommonOptions&)> declare,
    std::function<Status(const Options&, const CommonOptions&)> run,
    std::function<std::string(const Options&)> subject) {
  class FunctionCommand final : public Command {
   public:
    FunctionCommand(const ToolInfo& info, decltype(declare) declare, decltype(run) run,
                    decltype(subject) subject)
        : Command(info),
          declare_(std::move(declare)),
          run_(std::move(run)),
          subject_(std::move(subject)) {}
    void Declare(CLI::App* app, const CommonOptions& common) override {
      declare_(app, &options_, common);
    }
    Status Run(const CommonOptions& common) const override { return run_(options_, common); }
    std::string Subject() const override { return subject_(options_); }

   private:
    Options options_;
    decltype(declare) declare_;
    decltype(run) run_;
    decltype(subject) subject_;
  };
  return std::make_unique<FunctionCommand>(info, std::move(declare), std::move(run),
                                           std::move(subject));
}

using CommandMaker = std::function<std::unique_ptr<Command>()>;

// The main() of a tool. Runs the command that the command line names, or `tool` if it names none of
// `commands`. Returns the exit status.
int RunTool(int argc, char** argv, const CommandMaker& tool,
            const std::vector<CommandMaker>& commands = {});

// For Declare: after parsing, `check` examines the values of the flags; its error is wrong usage.
// Use it for mistakes that do not depend on the content of input files. Call it at most once for
// each command. The check of the main command does not run if the command line names another
// command.
void CheckOptions(CLI::App* app, std::function<Status()> check);
// Returns the error of a missing option that only some runs require. For CheckOptions.
Error MissingOption(const std::string& option);
// Calls CheckOptions for a single such option.
void RequireIf(CLI::App* app, const std::string& option, std::function<bool()> is_missing);

// Prints `text` on stderr. A failure to print is ignored, as the tool's answer does not depend on
// the text.
void Say(const std::string& text);
// Shows `text` in the last line of the terminal until the next text of either kind replaces it; ""
// clears the line.
void SayInPlace(const std::string& text);
// Makes Say print nothing from now on. For MPI runs, in which only the first process prints.
void SayNothing();

// On an interrupt, the tool prints "NAME: interrupted: " and the text that `words` writes, then
// ends. `words` runs in a signal handler: it writes at most `size` bytes, calls only
// async-signal-safe functions and returns the number of bytes; 0 prints nothing. Null `words`
// removes the text. REQUIRES: `name` outlives the process or is removed.
using InterruptWords = size_t (*)(char* text, size_t size);
void SayWhenInterrupted(const char* name, InterruptWords words);

// An interrupt, or the end of the memory, removes this file, or this directory if it is empty then,
// as it does unfinished files (files.h); until ForgetUnfinished is called.
void RemoveIfUnfinished(const std::string& path);
void ForgetUnfinished(const std::string& path);

// Returns the error with `place` in each diagnostic that names no place: a file, a folder, or an
// option with its value. Changes nothing if `place` is empty.
Error PlacedIn(const std::string& place, const Error& error);
template <typename T>
Result<T> PlacedIn(const std::string& place, Result<T> result) {
  if (result.ok()) return result;
  return PlacedIn(place, result.error());
}

// Prints one line on stderr, unless --quiet: "simccl: 12 plans".
void Report(const ToolInfo& info, const CommonOptions& common, const std::string& line);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_CLI_H_
