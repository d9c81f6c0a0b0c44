#include "workload-gen/job/memory_rules.h"

#include <fmt/format.h>

#include <utility>

namespace drydock {

void ReadMemory(const YamlNode& node, Diagnostics* diagnostics, MemoryRules* rules) {
  YamlReader reader(node, "memory", diagnostics);
  reader.ReadOptional("cuda_context", &rules->cuda_context);
  reader.ReadOptional("nccl_communicator", &rules->nccl_communicator);
  for (const auto& [key, bytes] : {std::pair{"cuda_context", rules->cuda_context},
                                   {"nccl_communicator", rules->nccl_communicator}}) {
    reader.CheckRange(key, bytes.count(), 0, int64_t{1} << 40);
  }
  reader.ReadOptional("fragmentation", &rules->fragmentation);
  if (!(rules->fragmentation >= 0 && rules->fragmentation < 1)) {
    reader.Fail("fragmentation", "'fragmentation' is a share: at least 0 and below 1");
  }
  reader.Finish();
}

std::string MemoryRulesText(const MemoryRules& rules) {
  if (rules == MemoryRules()) return "";
  return fmt::format(
      "memory:\n  cuda_context: {} B\n  nccl_communicator: {} B\n  fragmentation: {}\n",
      rules.cuda_context.count(), rules.nccl_communicator.count(), rules.fragmentation);
}

}  // namespace drydock
