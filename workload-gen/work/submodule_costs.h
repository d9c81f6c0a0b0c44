// Arithmetic and memory traffic of a submodule, for accounts and foreign readers (Chakra num_ops,
// tensor_size). The times of kernels do not depend on them: compute-sim has its own model.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_COSTS_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_COSTS_H_

#include "core/model/submodule.h"

namespace drydock {

// Fills flops and bytes from the other fields. FLOPs: two per multiply-add of a GEMM; elsewhere,
// one per element read or written. Bytes: every operand of every kernel moves once.
// REQUIRES: !submodule->has_stated_time().
void FillCosts(Submodule* submodule);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_COSTS_H_
