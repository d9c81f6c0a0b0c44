// What every tool's command line has in common. A tool declares its flags on a CLI::App and gives
// a body; RunTool parses, runs, prints diagnostics and turns the outcome into the exit status:
//   0 complete answer, 1 bad input, 2 wrong usage, 3 internal error, 130 interrupted.
// Common flags: --help, --version, --check, -v/--verbose, -q/--quiet, --stats, --if-changed.
#ifndef DRYDOCK_CORE_BASE_CLI_H_
#define DRYDOCK_CORE_BASE_CLI_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "core/base/result.h"

namespace drydock {

struct ToolInfo {
  std::string name;
  std::string summary;         // one line
  std::string files;           // what it reads and writes
  std::string example;         // one command
  bool keeps_artefact = true;  // writes what --if-changed can spare; else there is no such flag
};

struct CommonOptions {
  bool check = false;  // validate the inputs, write nothing
  bool quiet = false;  // no progress
  bool verbose = false;
  bool stats = false;       // where the tool's own time and memory went, on stderr
  bool if_changed = false;  // do nothing when inputs, options and executable are those of last time
};

// `declare` adds the tool's own flags; `body` does the work.
int RunTool(int argc, char** argv, const ToolInfo& info, CommonOptions* common,
            const std::function<void(CLI::App*)>& declare, const std::function<Status()>& body);

// For `declare`: a command of the tool ("simccl explain"; info.name is both words) with the common
// flags and a help of its own. The body finds out by app->got_subcommand(...).
CLI::App* AddCommand(CLI::App* app, const ToolInfo& info, CommonOptions* common);

// For `declare`: once the words are parsed, `check` looks at their values; its error is wrong
// usage. For what is wrong whatever the input holds. Once for an app; that of a tool is not asked
// where one of its commands was given.
void CheckOptions(CLI::App* app, std::function<Status()> check);
// What CheckOptions says of an option that only some runs need.
Error MissingOption(const std::string& option);
// CheckOptions for nothing but one such option.
void RequireIf(CLI::App* app, const std::string& option, std::function<bool()> is_missing);

// `text` as it is on stderr. Where that is full or its reader has left, the text is lost and the
// tool goes on: its answer does not depend on it.
void Say(const std::string& text);
// From now on Say says nothing: another process of the same run speaks for this one.
void SayNothing();

// What a tool says when it is interrupted, before it ends: its name, ": interrupted: " and what
// `words` writes. That runs in a signal handler, so it may do little: it returns how much of `size`
// it wrote; nothing is said if that is nothing. Null: there is nothing to say any more. `name`
// outlives the process's interest.
using InterruptWords = size_t (*)(char* text, size_t size);
void SayWhenInterrupted(const char* name, InterruptWords words);

// One line on stderr, unless --quiet: "simccl: 12 plans".
void Report(const ToolInfo& info, const CommonOptions& common, const std::string& line);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_CLI_H_
