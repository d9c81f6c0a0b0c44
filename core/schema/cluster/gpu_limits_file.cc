#include "core/schema/cluster/gpu_limits_file.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/base/scan.h"
#include "core/schema/cluster/cluster_limits.h"

namespace drydock {
namespace {

std::optional<int> WholeWithUnit(std::string_view text, std::string_view unit, int least,
                                 int most) {
  if (!text.ends_with(unit)) return std::nullopt;
  std::string_view number = text.substr(0, text.size() - unit.size());
  if (number.ends_with(' ')) number.remove_suffix(1);
  int whole = 0;
  if (!ScanNumbers(number, {""}, {&whole}) || whole < least || whole > most) return std::nullopt;
  return whole;
}

// `own`: what the GPU has; 0: not known.
struct LimitKey {
  const char* key;
  const char* quantity;
  const char* unit;
  const char* example;
  const char* missing;  // what the GPU's file lacks if `own` is 0
  std::optional<int> (*parse)(std::string_view text);
};

constexpr LimitKey kPower = {"power_limit", "power", "W", "500 W", "'power_limit' in 'scaling'",
                             WattsOf};
constexpr LimitKey kClock = {"clock_limit",      "clock",    "MHz", "1410 MHz",
                             "'clock' in 'gpu'", MegahertzOf};

void ReadLimit(const LimitKey& limit, int own, const GpuSpec* gpu, YamlReader* reader, int* value) {
  std::string text;
  reader->ReadOptional(limit.key, &text);
  if (!reader->Has(limit.key)) return;
  const std::optional<int> stated = limit.parse(text);
  if (!stated.has_value()) {
    reader->Fail(limit.key, fmt::format("expected a {} like '{}', found '{}'", limit.quantity,
                                        limit.example, text));
    return;
  }
  *value = *stated;
  if (gpu == nullptr) return;
  if (own == 0) {
    reader->Fail(limit.key, fmt::format("'{}' needs the GPU's own: gpus/{}.yaml states no {}",
                                        limit.key, gpu->name, limit.missing));
    return;
  }
  const int least = static_cast<int>(std::ceil(own * kMinLimitShare));
  if (*stated >= least && *stated <= own) return;
  reader->Fail(limit.key, fmt::format("'{}' of the GPU '{}' is from {} to {} {}, not {}", limit.key,
                                      gpu->name, least, own, limit.unit, text));
}

}  // namespace

std::optional<int> WattsOf(std::string_view text) { return WholeWithUnit(text, "W", 1, kMaxWatts); }

std::optional<int> MegahertzOf(std::string_view text) {
  return WholeWithUnit(text, "MHz", kMinClock, kMaxClock);
}

int OwnPowerLimit(const GpuSpec& gpu) {
  if (gpu.file_text.empty()) return 0;  // a GPU that a test made in memory has no file
  const Result<YamlNode> root = ParseYaml(gpu.file_text, gpu.file_name);
  if (!root.ok()) return 0;
  const YamlNode* scaling = root->Find("scaling");
  const YamlNode* limit = scaling == nullptr ? nullptr : scaling->Find("power_limit");
  return limit == nullptr ? 0 : WattsOf(limit->scalar).value_or(0);  // compute-sim reports mistakes
}

int OwnPowerLimit(const Topology& topology) {
  if (topology.hosts.empty()) return 0;
  return OwnPowerLimit(topology.gpus[static_cast<size_t>(topology.kind_of_host(0).gpu)]);
}

void ReadGpuLimits(YamlReader* reader, const GpuSpec* gpu, GpuLimits* limits) {
  ReadLimit(kPower, gpu == nullptr ? 0 : OwnPowerLimit(*gpu), gpu, reader, &limits->watts);
  ReadLimit(kClock, gpu == nullptr ? 0 : gpu->clock_mhz, gpu, reader, &limits->mhz);
}

}  // namespace drydock
