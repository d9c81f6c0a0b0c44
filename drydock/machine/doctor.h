// `drydock doctor`: what this machine lacks, and what that keeps from working.
#ifndef DRYDOCK_DRYDOCK_MACHINE_DOCTOR_H_
#define DRYDOCK_DRYDOCK_MACHINE_DOCTOR_H_

#include <string>
#include <vector>

namespace drydock {

struct Finding {
  enum class Kind { kPresent, kAbsent, kMissing };  // kAbsent: only what `purpose` says needs it
  Kind kind = Kind::kPresent;
  std::string what;    // "mpirun"
  std::string detail;  // where it is, or what to do
  std::string purpose;
};

// Examines the tools in `folder`, libhacknccl.so, the configs, the programs in the folders of
// `path` that some commands start, memory, and the folder `working` in which runs are kept.
std::vector<Finding> Examine(const std::string& folder, const std::string& path,
                             const std::string& working);

// A line for each finding.
std::string ToText(const std::vector<Finding>& findings);

// True if `drydock run` works.
bool IsComplete(const std::vector<Finding>& findings);

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_MACHINE_DOCTOR_H_
