// Which fields of a Submodule its kind uses: what its kernels need, and what a list of submodules
// (submodule_file.h) may say of it. One table; immutable, thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_EXTENTS_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_EXTENTS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

struct SubmoduleExtent {
  std::string name;
  int64_t Submodule::*field;
};
struct SubmoduleFlag {
  std::string name;
  bool Submodule::*field;
};

struct SubmoduleShape {
  SubmoduleKind kind;
  std::vector<SubmoduleExtent> needed;
  std::vector<SubmoduleExtent> optional;  // 0 says: as the comment of Submodule has it
  std::vector<SubmoduleFlag> flags;
  bool has_backward = true;
};

const SubmoduleShape& ShapeOf(SubmoduleKind kind);

// An error that names the submodule and the extent if one that its kind needs is not above 0, or
// if extents contradict each other.
Status CheckExtents(const Submodule& submodule);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_EXTENTS_H_
