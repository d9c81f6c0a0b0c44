#include "capture/classes/role_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace drydock::capture {
namespace {

using D = Dimension;

// Of megatron/core/parallel_state.py, without "_GROUP" and what comes before "_PARALLEL".
const std::map<std::string, GroupRole>& MegatronRoles() {
  static const auto& roles = *new std::map<std::string, GroupRole>{
      {"TENSOR_MODEL_PARALLEL_GROUP", {"tp", D::kTensor}},
      {"PIPELINE_MODEL_PARALLEL_GROUP", {"pp", D::kPipeline}},
      {"MODEL_PARALLEL_GROUP", {"tp-pp", D::kWorld}},
      {"EMBEDDING_GROUP", {"embd", D::kPipeline}},
      {"POSITION_EMBEDDING_GROUP", {"pos-embd", D::kPipeline}},
      {"DATA_PARALLEL_GROUP", {"dp", D::kData}},
      {"DATA_PARALLEL_GROUP_WITH_CP", {"dp-cp", D::kData}},
      {"DATA_PARALLEL_GROUP_WITH_CP_AG", {"dp-cp-ag", D::kData}},
      {"INTRA_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP", {"dp-cp-partial", D::kData}},
      {"INTER_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP", {"dp-instance", D::kData}},
      {"INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP", {"optimizer-instance", D::kWorld}},
      {"CONTEXT_PARALLEL_GROUP", {"cp", D::kContext}},
      {"TENSOR_AND_DATA_PARALLEL_GROUP", {"tp-dp", D::kWorld}},
      {"TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP", {"tp-dp-cp", D::kWorld}},
      {"TENSOR_AND_CONTEXT_PARALLEL_GROUP", {"tp-cp", D::kWorld}},
      {"EXPERT_MODEL_PARALLEL_GROUP", {"ep", D::kExpert}},
      {"EXPERT_TENSOR_PARALLEL_GROUP", {"etp", D::kTensor}},
      {"EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP", {"tp-ep", D::kExpert}},
      {"EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", {"tp-ep-pp", D::kWorld}},
      {"EXPERT_DATA_PARALLEL_GROUP", {"edp", D::kData}},
      {"INTRA_PARTIAL_EXPERT_DATA_PARALLEL_GROUP", {"edp-partial", D::kData}},
      {"INTER_PARTIAL_EXPERT_DATA_PARALLEL_GROUP", {"edp-instance", D::kData}},
  };
  return roles;
}

// Dimensions of device meshes, as torchtitan, Hugging Face and PyTorch's tutorials call them.
const std::map<std::string, Dimension>& MeshDimensions() {
  static const auto& dimensions = *new std::map<std::string, Dimension>{
      {"dp", D::kData},
      {"data", D::kData},
      {"fsdp", D::kData},
      {"ddp", D::kData},
      {"hsdp", D::kData},
      {"shard", D::kData},
      {"replicate", D::kData},
      {"dp_replicate", D::kData},
      {"dp_shard", D::kData},
      {"dp_shard_cp", D::kData},
      {"dp_cp", D::kData},
      {"dp_shard_mod_ep", D::kData},
      {"dp_shard_in_ep", D::kData},
      {"efsdp", D::kData},
      {"batch", D::kData},
      {"tp", D::kTensor},
      {"model", D::kTensor},
      {"etp", D::kTensor},
      {"pp", D::kPipeline},
      {"stage", D::kPipeline},
      {"cp", D::kContext},
      {"sp", D::kContext},
      {"ulysses", D::kContext},
      {"ep", D::kExpert},
  };
  return dimensions;
}

// "Stage Groups" is "stage-groups".
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return plain;
}

}  // namespace

GroupRole RoleOfDescription(const std::string& description) {
  const auto megatron = MegatronRoles().find(description);
  if (megatron != MegatronRoles().end()) return megatron->second;
  if (description == "default_pg" || description == "mesh_default") return {"world", D::kWorld};
  if (description.empty() || description == "undefined") return {"group", D::kWorld};
  constexpr std::string_view kMesh = "mesh_";
  const bool mesh = description.starts_with(kMesh);
  const std::string name = mesh ? description.substr(kMesh.size()) : description;
  const auto known = MeshDimensions().find(name);
  return {Plain(name), mesh && known != MeshDimensions().end() ? known->second : D::kWorld};
}

GroupRole RoleOf(const ClassRole& role) {
  GroupRole made = RoleOfDescription(role.kind.description);
  if (role.kind.ordinal > 0) made.name += fmt::format(" {}", role.kind.ordinal + 1);
  if (role.offsets.empty()) return made;
  std::vector<int> others = role.offsets;
  std::erase(others, 0);
  if (others.size() == 1) {
    made.name += others[0] == 1               ? "-next"
                 : others[0] == role.size - 1 ? "-prev"
                                              : fmt::format("+{}", others[0]);
    return made;
  }
  for (const int offset : others) made.name += fmt::format("+{}", offset);
  return made;
}

}  // namespace drydock::capture
