// What a command line of Python runs.
#ifndef DRYDOCK_CAPTURE_LAUNCH_PYTHON_COMMAND_H_
#define DRYDOCK_CAPTURE_LAUNCH_PYTHON_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

namespace drydock::capture {

struct PythonCommand {
  enum class Kind { kFile, kModule, kOther };  // kOther: code of -c or stdin, a version, a prompt
  Kind kind = Kind::kOther;
  std::string target;    // the file or the module
  size_t arguments = 0;  // index of the first word behind it
};

// `words`: the interpreter, its options, what it runs.
PythonCommand ReadPythonCommand(const std::vector<std::string>& words);

// True for "python", "python3.11", "/usr/bin/python3", "pypy3".
bool IsPython(const std::string& program);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_PYTHON_COMMAND_H_
