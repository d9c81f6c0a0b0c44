#include "compute-sim/submodules/kernel_assumptions.h"

#include "compute-sim/kernel/kernel.h"
#include "core/base/version.h"
#include "core/base/yaml.h"

namespace drydock {

Result<KernelAssumptions> ParseKernelAssumptions(const std::string& text,
                                                 const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "file of kernel assumptions", &diagnostics);
  KernelAssumptions assumptions;
  if (const YamlNode* node = file.Take("kernels", /*required=*/true)) {
    YamlReader reader(*node, "kernels", &diagnostics);
    reader.Read("fused_norm_partial_sums", &assumptions.fused_norm_partial_sums);
    reader.CheckRange("fused_norm_partial_sums", assumptions.fused_norm_partial_sums, 1,
                      kMaxExtent);
    std::string source;
    reader.Read("source", &source);
    reader.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return assumptions;
}

std::string KernelAssumptionsPath() {
  return std::string(kDefaultConfigDirectory) + "/kernels.yaml";
}

}  // namespace drydock
