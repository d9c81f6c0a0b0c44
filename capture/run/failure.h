// Why a captured program ended early, from what it wrote to stderr.
#ifndef DRYDOCK_CAPTURE_RUN_FAILURE_H_
#define DRYDOCK_CAPTURE_RUN_FAILURE_H_

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace drydock::capture {

// A place in Python code.
struct PythonFrame {
  std::string file;
  int line = 0;
  std::string function;  // "<module>" outside functions
  std::string code;      // the text of the line; may be empty
};

struct PythonFailure {
  std::string what;  // "ValueError: bad", "Fatal Python error: Segmentation fault"
  // The innermost frame of the user's own code: outside Python, its packages and the hooks of a
  // capture. If there is none, the innermost outside Python and PyTorch.
  std::optional<PythonFrame> place;
};

// Finds the last uncaught exception, or the last words of Python's fault handler.
std::optional<PythonFailure> FindFailure(std::string_view errors);

// Returns the last lines of a text, at most `lines` and 4 KiB.
std::string LastLines(std::string_view text, int lines);

// The error of a program: its first sentence is "SUBJECT: WHAT", at the place in Python if there is
// one; `end` says how the process ended. The last lines of stderr follow.
Error FailureError(const std::string& subject, const std::string& end, std::string_view errors);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_FAILURE_H_
