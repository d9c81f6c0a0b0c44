// The commands of `drydock`: its own, those that another tool answers, and the tools themselves.
#ifndef DRYDOCK_DRYDOCK_COMMANDS_H_
#define DRYDOCK_DRYDOCK_COMMANDS_H_

#include <string>
#include <vector>

namespace drydock {

struct OwnCommand {
  const char* name;
  const char* usage;  // after the name
  const char* summary;
  const char* details;  // further lines of --help
  const char* example;
  int (*run)(const std::vector<std::string>& arguments);  // returns the exit status
};

// A command that is a command of another tool: "what-if" is "exec-engine what-if".
struct Alias {
  const char* name;
  const char* tool;
  const char* command;  // "" if the tool itself is meant
  const char* summary;
};

struct Tool {
  const char* name;
  const char* summary;
};

const std::vector<OwnCommand>& OwnCommands();
const std::vector<Alias>& Aliases();
const std::vector<Tool>& Tools();

// The help of one of drydock's own commands.
std::string HelpOf(const OwnCommand& command);

// The executable of a tool; "" if there is none beside this executable.
std::string ExecutableOf(const std::string& tool);
// The names of executables drydock-NAME beside this one that are not among Tools().
std::vector<std::string> OtherTools();

// Becomes the tool. Returns, with an exit status and a message, only if it cannot be started.
int Become(const std::string& tool, const std::vector<std::string>& arguments);

// Prints an error of wrong usage and returns its exit status. `command`: "drydock", "drydock run".
int WrongUsage(const std::string& command, const std::string& message);
// Prints on standard output and returns the exit status.
int Print(const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_COMMANDS_H_
