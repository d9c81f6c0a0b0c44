// A call of a launcher or of Python, as an interceptor has seen it, and the file in which it keeps
// the call for drydock-capture.
#ifndef DRYDOCK_CAPTURE_LAUNCH_CALL_H_
#define DRYDOCK_CAPTURE_LAUNCH_CALL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// A job step around a call: srun or mpirun would have started its command this many times.
struct JobStep {
  std::string launcher;  // "srun"
  int hosts = 1, tasks_per_host = 1;
  int task = 0;    // the one whose variables the command has seen
  int number = 0;  // tells apart the steps of a script

  int tasks() const { return hosts * tasks_per_host; }
  bool operator==(const JobStep&) const = default;
};

// The variable that tells a command of the step around it.
inline constexpr const char* kStepVariable = "DRYDOCK_LAUNCH_STEP";
std::string TextOfStep(const JobStep& step);
std::optional<JobStep> StepOfText(const std::string& text);

struct Call {
  std::vector<std::string> words;  // the first is the name of the program, or its path
  std::string folder;
  Variables environment;
  std::optional<JobStep> step;
  std::string refused;  // why an interceptor could not go on, or not as it should; or ""
};

std::string Encode(const Call& call);
Result<Call> Decode(std::string_view text);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_CALL_H_
