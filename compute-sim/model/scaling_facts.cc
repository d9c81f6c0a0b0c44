#include "compute-sim/model/scaling_facts.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/base/yaml.h"
#include "core/schema/cluster/gpu_limits_file.h"

namespace drydock {
namespace {

void ReadShares(YamlReader* parent, const char* key, std::array<double, kDataTypeCount>* shares,
                Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take(key, false);
  if (node == nullptr) return;
  YamlReader reader(*node, key, diagnostics);
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

void ReadPowerLimit(YamlReader* reader, double* watts) {
  std::string text;
  reader->ReadOptional("power_limit", &text);
  if (!reader->Has("power_limit")) return;
  const std::optional<int> stated = WattsOf(text);
  *watts = stated.value_or(0);
  if (!stated) {
    reader->Fail("power_limit", fmt::format("expected a power like '700 W', found '{}'", text));
  }
}

void ReadErrors(YamlReader* parent, ScalingFacts* facts, Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take("errors", false);
  if (node == nullptr) return;
  YamlReader reader(*node, "errors", diagnostics);
  for (const auto& [key, error] :
       {std::pair("gemm", &facts->gemm_error), std::pair("attention", &facts->attention_error)}) {
    reader.ReadOptional(key, error);
    if (reader.Has(key) && !(*error > 0 && *error <= 1)) {
      reader.Fail(key, "expected a mean error as a share of the time, above 0 and up to 1");
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

double NearestShareRatio(const ScalingFacts& to, DataType type, const ScalingFacts& from) {
  std::vector<DataType> nearest = {type};
  if (IsQuantized(type)) nearest.push_back(DataType::kFp8);
  nearest.insert(nearest.end(), {DataType::kBf16, DataType::kFp16});
  for (const DataType each : nearest) {
    if (!KnowShares(to, each, from, each)) continue;
    return to.matmul_share[static_cast<size_t>(each)] /
           from.matmul_share[static_cast<size_t>(each)];
  }
  return 1;
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
  ReadShares(&reader, "matmul_share", &facts.matmul_share, &diagnostics);
  ReadShares(&reader, "sustained_share", &facts.sustained_share, &diagnostics);
  ReadPowerLimit(&reader, &facts.power_limit);
  reader.ReadOptional("exponentials", &facts.exponentials);
  if (reader.Has("exponentials") && !(facts.exponentials >= 1 && facts.exponentials <= 1024)) {
    reader.Fail("exponentials", "expected exponentials of an SM in a cycle, from 1 to 1024");
  }
  ReadErrors(&reader, &facts, &diagnostics);
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return facts;
}

}  // namespace drydock
