#include "compute-sim/model/scaling_facts.h"

#include <fmt/format.h>

#include <string_view>

#include "core/base/scan.h"
#include "core/base/yaml.h"

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
  constexpr std::string_view kUnit = " W";
  constexpr int kMost = 10'000;
  const std::string_view number =
      text.ends_with(kUnit) ? std::string_view(text).substr(0, text.size() - kUnit.size()) : "";
  int whole = 0;
  if (ScanNumbers(number, {""}, {&whole}) && whole >= 1 && whole <= kMost) {
    *watts = whole;
  } else {
    reader->Fail("power_limit", fmt::format("expected a power like '700 W', found '{}'", text));
  }
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
  ReadShares(&reader, "matmul_share", &facts.matmul_share, &diagnostics);
  ReadShares(&reader, "sustained_share", &facts.sustained_share, &diagnostics);
  ReadPowerLimit(&reader, &facts.power_limit);
  reader.ReadOptional("exponentials", &facts.exponentials);
  if (reader.Has("exponentials") && !(facts.exponentials >= 1 && facts.exponentials <= 1024)) {
    reader.Fail("exponentials", "expected exponentials of an SM in a cycle, from 1 to 1024");
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return facts;
}

}  // namespace drydock
