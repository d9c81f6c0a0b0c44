#include "compute-sim/model/scaling_facts.h"

#include "core/base/yaml.h"

namespace drydock {
namespace {

void ReadShares(const YamlNode& node, std::array<double, kDataTypeCount>* shares,
                Diagnostics* diagnostics) {
  YamlReader reader(node, "matmul_share", diagnostics);
  for (size_t i = 0; i < shares->size(); ++i) {
    const std::string& name = DataTypeNames()[i];
    double& share = (*shares)[i];
    reader.ReadOptional(name, &share);
    if (reader.Has(name) && !(share >= 0.01 && share <= 1)) {
      reader.Fail(name, "expected a share of the dense rate, from 0.01 to 1");
    }
  }
  reader.Finish();
}

}  // namespace

bool KnowShares(const ScalingFacts& to, DataType type, const ScalingFacts& from,
                DataType from_type) {
  return to.matmul_share[static_cast<size_t>(type)] > 0 &&
         from.matmul_share[static_cast<size_t>(from_type)] > 0;
}

Result<ScalingFacts> ReadScalingFacts(const std::string& file_text, const std::string& file_name) {
  ScalingFacts facts;
  // A GPU that a test constructs in memory has no file.
  if (file_text.empty()) return facts;
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(file_text, file_name));
  const YamlNode* section = root.Find("scaling");
  if (section == nullptr) return facts;
  Diagnostics diagnostics;
  YamlReader reader(*section, "scaling", &diagnostics);
  int schedule = 0;
  reader.ReadChoice("tile_schedule", {"waves", "persistent"}, &schedule, /*required=*/false);
  if (reader.Has("tile_schedule")) {
    facts.schedule = schedule == 0 ? TileSchedule::kWaves : TileSchedule::kPersistent;
  }
  if (const YamlNode* shares = reader.Take("matmul_share", false)) {
    ReadShares(*shares, &facts.matmul_share, &diagnostics);
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return facts;
}

}  // namespace drydock
