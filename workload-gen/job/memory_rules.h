// What no program tells of a rank's memory: the section `memory` of model.yaml.
// docs/reference/model-file.md gives the sources of the defaults.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_

#include "core/base/units.h"

namespace drydock {

struct MemoryRules {
  Bytes cuda_context{600000000};
  Bytes nccl_communicator{154140672};  // of each that a rank is in
  double fragmentation = 0;  // share of the rest that the allocator holds and cannot give out
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
