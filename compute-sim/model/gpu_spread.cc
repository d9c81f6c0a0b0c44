#include "compute-sim/model/gpu_spread.h"

#include "core/base/order_statistics.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

// With this spread, the slowest of a million GPUs runs at half the rate of the mean. A much larger
// spread would bring the rate down to 0.
constexpr double kMaxSpread = 0.1;

}  // namespace

Result<std::optional<double>> ReadSpread(const std::string& file_text,
                                         const std::string& file_name) {
  const std::optional<double> none;
  if (file_text.empty()) return none;  // a GPU that a test made in memory has no file
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(file_text, file_name));
  const YamlNode* section = root.Find("spread");
  if (section == nullptr) return none;
  Diagnostics diagnostics;
  YamlReader reader(*section, "spread", &diagnostics);
  double spread = 0;
  reader.Read("tensor_rate", &spread);
  if (!(spread >= 0 && spread <= kMaxSpread)) {
    reader.Fail("tensor_rate",
                "expected a standard deviation as a share of the mean, from 0 to 0.1");
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return std::optional(spread);
}

Result<double> SpreadOf(const GpuSpec& spec) {
  ASSIGN_OR_RETURN(const std::optional<double> own, ReadSpread(spec.file_text, spec.file_name));
  if (own.has_value()) return *own;
  ASSIGN_OR_RETURN(const std::optional<double> of_reference,
                   ReadSpread(spec.reference_text, "gpus/" + spec.reference + ".yaml"));
  return of_reference.value_or(0);
}

double SlowestTime(double spread, int count) { return 1 / (1 - spread * ExpectedMaxSigma(count)); }

}  // namespace drydock
