#include "compute-sim/fit/fit_weights.h"

#include "core/base/yaml.h"

namespace drydock {

double FitWeights::Of(const Kernel& kernel) const {
  if (IsLarge(kernel)) return 1;
  return IsGemm(kernel.kind) && kernel.flops > medium_product_flop ? medium_product_weight
                                                                   : small_kernel_weight;
}

Result<FitWeights> ParseFitWeights(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "file of fit weights", &diagnostics);
  FitWeights weights;
  if (const YamlNode* node = file.Take("fit", /*required=*/true)) {
    YamlReader reader(*node, "fit", &diagnostics);
    const std::pair<const char*, double*> numbers[] = {
        {"medium_product_weight", &weights.medium_product_weight},
        {"small_kernel_weight", &weights.small_kernel_weight},
        {"medium_product_flop", &weights.medium_product_flop},
        {"sum_weight", &weights.sum_weight},
        {"curve_max_share", &weights.curve_max_share}};
    for (const auto& [key, value] : numbers) {
      reader.Read(key, value);
      if (!(*value >= 0)) reader.Fail(key, "expected a number from 0");
    }
    reader.Read("curve_min_traffic", &weights.curve_min_traffic);
    std::string source;
    reader.Read("source", &source);
    reader.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return weights;
}

}  // namespace drydock
