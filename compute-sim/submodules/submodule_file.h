// A list of submodules as people write it (YAML), to see their kernels without a workload:
//
//   submodules:
//     - {name: mla.core, kind: attention, pass: fwd, type: bf16, batch: 1, sequence: 4096, ...}
//
// `type` is bf16 and `pass` forward and backward unless given. docs/reference/submodules.md has the
// keys.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_FILE_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// Everything wrong is reported at once, with its place.
Result<std::vector<Submodule>> ParseSubmodules(const std::string& text,
                                               const std::string& file_name);
// One submodule: the keys and values of a line of that list, "kind: norm, rows: 8192, n: 4096".
Result<std::vector<Submodule>> ParseSubmoduleWords(const std::string& words);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_FILE_H_
