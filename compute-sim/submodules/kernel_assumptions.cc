#include "compute-sim/submodules/kernel_assumptions.h"

#include <utility>

#include "compute-sim/kernel/kernel.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

void ReadShares(const YamlNode& node, const char* section, AssumedShares* shares,
                Diagnostics* diagnostics) {
  YamlReader reader(node, section, diagnostics);
  const std::pair<const char*, double*> numbers[] = {{"tensor_share", &shares->tensor},
                                                     {"memory_share", &shares->memory},
                                                     {"error", &shares->error}};
  for (const auto& [key, value] : numbers) {
    reader.Read(key, value);
    if (!(*value > 0 && *value <= 1)) reader.Fail(key, "expected a share above 0, at most 1");
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
}

}  // namespace

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
    const std::pair<const char*, AssumedShares*> sections[] = {
        {"chunk_products", &assumptions.chunk_products},
        {"sparse_products", &assumptions.sparse_products}};
    for (const auto& [section, shares] : sections) {
      const YamlNode* products = reader.Take(section, /*required=*/true);
      if (products != nullptr) ReadShares(*products, section, shares, &diagnostics);
    }
    reader.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return assumptions;
}

std::string KernelAssumptionsPath() { return ConfigDirectory() + "/kernels.yaml"; }

}  // namespace drydock
