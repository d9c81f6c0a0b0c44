// Lists of hosts: files of mpirun and deepspeed ("node1 slots=8"), and Slurm's "node[1-4,7]".
#ifndef DRYDOCK_CAPTURE_LAUNCH_HOST_LIST_H_
#define DRYDOCK_CAPTURE_LAUNCH_HOST_LIST_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

struct ListedHost {
  std::string name;
  int slots = 0;  // 0: the list does not say
};

// Reads a file of hosts. `path` is relative to `folder`. Reads "name", "name slots=8", "name:8";
// text behind # is left out. Errors have the line.
Result<std::vector<ListedHost>> ReadHostFile(const std::string& path, const std::string& folder);

// "gpu[01-03,7],login" is gpu01, gpu02, gpu03, gpu7, login.
Result<std::vector<std::string>> ExpandHostNames(const std::string& text);

// Names of hosts as a job on this cluster would have them: "node0", "node1", ...
std::vector<std::string> JobHostNames(int hosts);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_HOST_LIST_H_
