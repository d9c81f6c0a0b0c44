// A list of submodules in YAML, written by hand to see their kernels without a workload:
//
//   submodules:
//     - {name: mla.core, kind: attention, pass: fwd, type: bf16, batch: 1, sequence: 4096, ...}
//
// If `type` is missing, it is bf16. If `pass` is missing, the list gets the forward and the
// backward pass.
// docs/reference/submodules.md lists the keys.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_FILE_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/submodule.h"

namespace drydock {

// Reports all mistakes together, each with its location.
Result<std::vector<Submodule>> ParseSubmodules(const std::string& text,
                                               const std::string& file_name);
// One submodule: the keys and values of a line of that list, "kind: norm, rows: 8192, n: 4096".
Result<std::vector<Submodule>> ParseSubmoduleWords(const std::string& words);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_FILE_H_
