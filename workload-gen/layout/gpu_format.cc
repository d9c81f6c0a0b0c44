#include "workload-gen/layout/gpu_format.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/spelling.h"

namespace drydock {
namespace {

std::string TypesOf(const GpuSpec& gpu) {
  std::vector<std::string> names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    if (gpu.dense_rate[i] > FlopRate()) names.push_back(DataTypeNames()[static_cast<size_t>(i)]);
  }
  return Join(names);
}

}  // namespace

Status CheckGpuFormat(const TrainingJob& job, const Topology& topology) {
  const PrecisionRules& precision = job.training.precision;
  if (!precision.quantized()) return OkStatus();
  const DataType type = precision.products();
  for (const GpuSpec& gpu : topology.gpus) {
    if (gpu.RateOf(type) > FlopRate()) continue;
    const bool recipe = precision.fp8 && !precision.delayed_scaling();
    return job.ErrorAt(recipe ? "training.fp8_recipe" : "training.precision",
                       fmt::format("the GPU '{}' has no products in {}; it has {}", gpu.name,
                                   ToString(type), TypesOf(gpu)));
  }
  return OkStatus();
}

}  // namespace drydock
