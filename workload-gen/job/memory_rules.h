// What no program tells of a rank's memory: the section `memory` of model.yaml.
// docs/reference/model-file.md gives the sources of the defaults.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_

#include <string>

#include "core/base/units.h"
#include "core/base/yaml.h"

namespace drydock {

struct MemoryRules {
  Bytes cuda_context{600000000};
  Bytes nccl_communicator{154140672};  // of each that a rank is in
  double fragmentation = 0;  // share of the rest that the allocator holds and cannot give out
  bool operator==(const MemoryRules&) const = default;
};

void ReadMemory(const YamlNode& node, Diagnostics* diagnostics, MemoryRules* rules);
// As text that reads back the same; empty for the defaults.
std::string MemoryRulesText(const MemoryRules& rules);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
