// Whether the extents of a submodule allow its kernels to be listed.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_EXTENTS_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_EXTENTS_H_

#include "core/base/result.h"
#include "core/model/submodule.h"

namespace drydock {

// An error that names the submodule and the extent if an extent that its kind needs is not above 0,
// or if extents contradict each other.
Status CheckExtents(const Submodule& submodule);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_EXTENTS_H_
