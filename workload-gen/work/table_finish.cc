#include "workload-gen/work/table_finish.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/check.h"

namespace drydock {

void DropUnusedSubmodules(Workload* workload) {
  constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<uint32_t> renumbered(workload->submodules.size(), kUnseen);
  std::vector<Submodule> kept;
  for (ComputeBlock& block : workload->blocks) {
    for (uint32_t& index : block.submodules) {
      if (renumbered[index] == kUnseen) {
        renumbered[index] = static_cast<uint32_t>(kept.size());
        kept.push_back(std::move(workload->submodules[index]));
      }
      index = renumbered[index];
    }
  }
  workload->submodules = std::move(kept);
}

void CollectUses(Workload* workload) {
  using CallAndRole = std::pair<uint32_t, uint8_t>;
  std::vector<std::set<CallAndRole>> of_class(workload->programs.size());
  for (size_t c = 0; c < workload->programs.size(); ++c) {
    for (const Op& op : workload->programs[c].ops) {
      if (IsCommunication(op.kind)) of_class[c].emplace(op.work, op.role);
    }
  }
  std::set<Workload::Use> uses;
  for (size_t rank = 0; rank < workload->class_of_rank.size(); ++rank) {
    for (const auto& [call, role] : of_class[static_cast<size_t>(workload->class_of_rank[rank])]) {
      const int group = workload->group_of_rank[role][rank];
      CHECK_NOTE(group >= 0, "a communication in a group its rank is not in");
      uses.insert({call, static_cast<uint32_t>(group)});
    }
  }
  workload->uses.assign(uses.begin(), uses.end());
}

}  // namespace drydock
