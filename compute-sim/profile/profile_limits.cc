#include "compute-sim/profile/profile_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/yaml.h"

namespace drydock {
namespace {

constexpr double kMaxOfDense = 1.5, kMaxOfMemory = 20;
constexpr int64_t kShown = 10;

// 0 if the specification states no rate. GEMMs of 32 bits may have run on tensor cores.
double DenseRate(const GpuSpec& spec, DataType type) {
  const auto rate = [&](DataType of) { return spec.RateOf(of).flops_per_second(); };
  if (type == DataType::kFp32) return std::max(rate(type), rate(DataType::kTf32));
  if (type == DataType::kFp8E5m2) return std::max(rate(type), rate(DataType::kFp8));
  return rate(type);
}

// The reason why a row is too fast: "549.8 GFLOP in 1 us are 5.498e+05 TFLOPS, its dense rate is
// 989";
// "" if the row is possible.
std::string Excess(const Kernel& kernel, Time time, const GpuSpec& spec) {
  const double seconds = time.us() / 1e6;
  const double dense = DenseRate(spec, kernel.type);
  const double memory = spec.memory_bandwidth.bytes_per_second();
  if (dense > 0 && kernel.flops > kMaxOfDense * dense * seconds) {
    return fmt::format("{:.4g} GFLOP in {} are {:.4g} TFLOPS, its dense rate is {:.4g}",
                       kernel.flops / 1e9, ToString(time), kernel.flops / seconds / 1e12,
                       dense / 1e12);
  }
  if (IsMemoryKernel(kernel.kind) && kernel.bytes > kMaxOfMemory * memory * seconds) {
    return fmt::format("{:.4g} MB in {} are {:.4g} TB/s, its memory has {:.4g}", kernel.bytes / 1e6,
                       ToString(time), kernel.bytes / seconds / 1e12, memory / 1e12);
  }
  return "";
}

}  // namespace

Status CheckRowsArePossible(const Profile& profile, const GpuSpec& spec) {
  Diagnostics diagnostics;
  int64_t count = 0;
  for (const ProfileTable& table : profile.tables) {
    for (size_t i = 0; i < table.size(); ++i) {
      const RowRef row{&table, i};
      const std::string excess = Excess(row.kernel(), row.time(), spec);
      if (excess.empty() || ++count > kShown) continue;
      diagnostics.Add(Error(fmt::format("no {} can do that: {}", spec.name, excess),
                            {profile.file_name, row.line(), 0}));
    }
  }
  if (count > kShown) {
    diagnostics.Add(
        Error(fmt::format("{} more rows are too fast", count - kShown), {profile.file_name, 0, 0}));
  }
  return diagnostics.ToStatus();
}

}  // namespace drydock
