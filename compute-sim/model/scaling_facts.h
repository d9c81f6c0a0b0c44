// The `scaling:` section of a GPU's file: what is published of a GPU beside its data sheet, for
// scaling to it and from it (docs/explanation/compute.md). Plain data; immutable once read.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_SCALING_FACTS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_SCALING_FACTS_H_

#include <array>
#include <string>

#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// How the architecture's product kernels hand tiles to the SMs.
enum class TileSchedule : uint8_t {
  kUnknown,
  kWaves,       // a thread block a tile: whole waves
  kPersistent,  // thread blocks stay and take the next tile while they store the last
};

struct ScalingFacts {
  TileSchedule schedule = TileSchedule::kUnknown;
  // Of the dense rate, what the best product of a published search reaches; 0: none was published.
  std::array<double, kDataTypeCount> matmul_share = {};
};

// Both know what share of the dense rate products reach, each of its type.
bool KnowShares(const ScalingFacts& to, DataType type, const ScalingFacts& from,
                DataType from_type);

// All unknown if the file has no such section. Everything wrong is reported at once.
Result<ScalingFacts> ReadScalingFacts(const std::string& file_text, const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_SCALING_FACTS_H_
