#include "workload-gen/job/cuda_graphs.h"

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/spelling.h"

namespace drydock {

const std::vector<GraphModuleName>& GraphModuleNames() {
  static const std::vector<GraphModuleName> names = {
      {"attn", &GraphModules::attention},
      {"mlp", &GraphModules::mlp},
      {"moe", &GraphModules::moe},
      {"moe_router", &GraphModules::moe_router},
      {"moe_preprocess", &GraphModules::moe_preprocess},
      {"mamba", &GraphModules::mamba},
  };
  return names;
}

bool GraphRules::Holds(LayerRegion region) const {
  if (scope == GraphScope::kLayers) return region != LayerRegion::kOutside;
  if (scope != GraphScope::kParts) return false;
  switch (region) {
    case LayerRegion::kOutside:
      return false;
    case LayerRegion::kAttention:
      return modules.attention;
    case LayerRegion::kMlp:
      return modules.mlp;
    case LayerRegion::kRouter:
      return modules.moe || modules.moe_router;
    case LayerRegion::kPreprocess:
      return modules.moe || modules.moe_preprocess;
    case LayerRegion::kExperts:
      return modules.moe;
    case LayerRegion::kMamba:
      return modules.mamba;
  }
  CHECK(false);
}

std::string GraphRules::Text() const {
  switch (scope) {
    case GraphScope::kNone:
      return "none";
    case GraphScope::kLayers:
      return "layers";
    case GraphScope::kFull:
      return "full";
    case GraphScope::kIteration:
      return "full_iteration";
    case GraphScope::kParts:
      break;
  }
  std::vector<std::string> names;
  for (const GraphModuleName& module : GraphModuleNames()) {
    if (modules.*module.member) names.emplace_back(module.name);
  }
  return fmt::format("[{}]", Join(names));
}

}  // namespace drydock
