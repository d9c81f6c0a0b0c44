// This process, its environment, and the processes that it starts. Not thread-safe where the
// environment changes at the same time.
#ifndef DRYDOCK_CORE_BASE_PROCESS_H_
#define DRYDOCK_CORE_BASE_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// Variables of an environment: names and values.
using Variables = std::vector<std::pair<std::string, std::string>>;

// "" if there is no such variable.
std::string ValueOf(const Variables& variables, const std::string& name);
bool Has(const Variables& variables, const std::string& name);
void Set(Variables* variables, const std::string& name, const std::string& value);
void Unset(Variables* variables, const std::string& name);

// The environment of this process.
Variables OwnEnvironment();

// The folder that this process works in; "/" if the system does not tell.
std::string WorkingFolder();

// The folder of this executable; "." if the system does not tell.
std::string FolderOfExecutable();

// The file that a shell starts for `program`: a path itself, a name in the folders of `path`, in
// their order and without the folder `but_not`. "" if there is none that can be executed.
std::string FindProgram(const std::string& program, const std::string& path,
                        const std::string& but_not = "");

// The exit status by what waitpid tells: 128 + N after signal N, as shells have it.
int ExitStatusOf(int told);
// Waits for the end of a child. Returns its exit status.
int WaitForEnd(pid_t child);

// Runs a program without a shell and waits for its end. Returns what it wrote to stdout and stderr.
// Errors: it cannot be started, or its exit status is not 0; the message has what it wrote.
Result<std::string> RunCommand(const std::vector<std::string>& words);

// Runs a program that shows its own progress and errors on this process's streams, and waits for
// its end, which comes with this process's at the latest. Returns its exit status. Errors: it
// cannot be started.
Result<int> RunShown(const std::vector<std::string>& words);

struct GroupEnd {
  int status = 0;            // the program's exit status, 128 + N after signal N
  bool interrupted = false;  // by a signal that this process got
  bool said_error = false;   // a line of its standard error has "error:"; kept with `by_line` only
};
// As RunShown, but the program has a process group of its own and no standard input, and an
// interrupt of this process (SIGINT, SIGTERM, SIGHUP) ends the program and all processes of its
// group: they get SIGINT and, if they do not end, SIGTERM and SIGKILL. With `by_line`, its standard
// error passes through this process, so that lines of its processes are never mixed.
Result<GroupEnd> RunGroup(const std::vector<std::string>& words, bool by_line = false);

// Runs the executable `name` from the folder of this executable, with these arguments and this
// process's streams and environment, and waits for its end. Returns an error if it does not exist
// or its exit status is not 0; the executable itself has printed the reason on stderr.
Status RunBeside(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PROCESS_H_
