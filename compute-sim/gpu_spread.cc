#include "compute-sim/gpu_spread.h"

#include <cmath>

#include "core/base/yaml.h"

namespace drydock {
namespace {

// Above it GPUs would stop: none of a run of millions may.
constexpr double kMostSpread = 0.1;

// The x below which a share `p` of a standard normal distribution lies; p from 0.5 to below 1.
double NormalQuantile(double p) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {  // to the last digit
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return low;
}

}  // namespace

Result<double> ReadSpread(const std::string& file_text, const std::string& file_name) {
  if (file_text.empty()) return 0.0;  // a GPU that was made up in memory has no file
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(file_text, file_name));
  const YamlNode* section = root.Find("spread");
  if (section == nullptr) return 0.0;
  Diagnostics diagnostics;
  YamlReader reader(*section, "spread", &diagnostics);
  double spread = 0;
  reader.Read("tensor_rate", &spread);
  if (!(spread >= 0 && spread <= kMostSpread)) {
    reader.Fail("tensor_rate",
                "expected a standard deviation as a share of the mean, from 0 to 0.1");
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return spread;
}

Result<double> SpreadOf(const GpuSpec& spec) {
  ASSIGN_OR_RETURN(const double own, ReadSpread(spec.file_text, spec.file_name));
  if (own > 0 || spec.reference_text.empty()) return own;
  return ReadSpread(spec.reference_text, "gpus/" + spec.reference + ".yaml");
}

double SlowestOf(int count) {
  if (count < 2) return 0;
  return NormalQuantile((count - 0.375) / (count + 0.25));
}

double SlowestTime(double spread, int count) { return 1 / (1 - spread * SlowestOf(count)); }

}  // namespace drydock
