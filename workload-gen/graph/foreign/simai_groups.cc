#include "workload-gen/graph/foreign/simai_groups.h"

#include <fmt/format.h>

#include <utility>

namespace drydock {
namespace {

// Every rank is in one group of `size` ranks, `stride` apart.
void AddRole(SimaiRole role, const char* name, Dimension dimension, int size, int stride, int gpus,
             SimaiGroups* groups, Workload* w) {
  groups->size[static_cast<size_t>(role)] = size;
  if (size == 1) return;
  groups->index[static_cast<size_t>(role)] = static_cast<int>(w->roles.size());
  w->roles.push_back({name, dimension});
  std::vector<int>& group_of_rank = w->group_of_rank.emplace_back(static_cast<size_t>(gpus), -1);
  for (int first = 0; first < gpus; ++first) {
    if (group_of_rank[static_cast<size_t>(first)] >= 0) continue;
    Group group;
    for (int m = 0; m < size; ++m) {
      group.ranks.push_back(first + m * stride);
      group_of_rank[static_cast<size_t>(group.ranks.back())] = static_cast<int>(w->groups.size());
    }
    w->groups.push_back(std::move(group));
  }
}

Status CheckDivides(int whole, const std::string& whole_name, int part, const std::string& name,
                    const std::string& path) {
  if (whole % part == 0) return OkStatus();
  return Error(fmt::format("{} ({}) is not divisible by {} ({})", whole_name, whole, name, part),
               {path, 1, 0});
}

bool SplitsModel(SimaiPolicy policy) {
  return policy != SimaiPolicy::kMicro && policy != SimaiPolicy::kData;
}

}  // namespace

SimaiRole SimaiGroups::RoleOf(SimaiPolicy policy, SimaiSpan span, SimaiPass pass) const {
  SimaiRole role = pass == kSimaiWeightGradient ? SimaiRole::kData : SimaiRole::kTensor;
  if (span == SimaiSpan::kExpert) {
    role = SimaiRole::kExpert;
  } else if (span == SimaiSpan::kExpertData) {
    role = SimaiRole::kExpertData;
  } else if (policy == SimaiPolicy::kMicro || policy == SimaiPolicy::kDistributedInference) {
    role = SimaiRole::kWorld;
  } else if (policy == SimaiPolicy::kData) {
    role = pass == kSimaiWeightGradient ? SimaiRole::kWorld : SimaiRole::kNone;
  } else if (policy == SimaiPolicy::kModel) {
    role = pass == kSimaiWeightGradient ? SimaiRole::kNone : SimaiRole::kWorld;
  }
  if (role == SimaiRole::kNone || size[static_cast<size_t>(role)] == 1) {
    return SimaiRole::kNone;
  }
  return role;
}

Result<SimaiGroups> MakeSimaiGroups(const SimaiFile& file, const std::string& path,
                                    Workload* workload) {
  const int gpus = file.gpus, tensor = file.tensor, expert = file.expert;
  RETURN_IF_ERROR(CheckDivides(gpus, "all_gpus", tensor, "model_parallel_NPU_group", path));
  RETURN_IF_ERROR(CheckDivides(gpus / tensor, "all_gpus / TP", file.pipeline, "pp", path));
  const int data = gpus / tensor / file.pipeline;
  RETURN_IF_ERROR(CheckDivides(data, "the number of copies", expert, "ep", path));
  SimaiGroups groups;
  const auto add = [&](SimaiRole role, const char* name, Dimension dimension, int size,
                       int stride) {
    AddRole(role, name, dimension, size, stride, gpus, &groups, workload);
  };
  if (SplitsModel(file.policy)) {
    add(SimaiRole::kTensor, "tp", Dimension::kTensor, tensor, 1);
    add(SimaiRole::kData, "dp", Dimension::kData, data, gpus / data);
  }
  add(SimaiRole::kExpert, "ep", Dimension::kExpert, expert, tensor);
  add(SimaiRole::kExpertData, "dp-ep", Dimension::kData, data / expert, expert * tensor);
  if (!SplitsModel(file.policy) || file.policy == SimaiPolicy::kModel ||
      file.policy == SimaiPolicy::kDistributedInference) {
    add(SimaiRole::kWorld, "world", Dimension::kWorld, gpus, 1);
  }
  return groups;
}

}  // namespace drydock
