// The `scaling:` section of a GPU's file: facts that are published beside the data sheet, for
// scaling to this GPU and from it (docs/explanation/compute.md). Plain data; immutable once read.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_SCALING_FACTS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_SCALING_FACTS_H_

#include <array>
#include <string>

#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// How the architecture's GEMM kernels hand tiles to the SMs.
enum class TileSchedule : uint8_t {
  kUnknown,
  kWaves,       // one thread block for each tile: whole waves
  kPersistent,  // thread blocks stay and take the next tile while they store the last
};

struct ScalingFacts {
  TileSchedule schedule = TileSchedule::kUnknown;
  // The share of the dense rate that the best GEMM of a published search reaches; 0: not
  // published.
  std::array<double, kDataTypeCount> matmul_share = {};
  // The share of the dense rate that products keep at the power limit; 0: not known.
  std::array<double, kDataTypeCount> sustained_share = {};
  double power_limit = 0;   // watts that the GPU may draw; 0: not published
  double exponentials = 0;  // that an SM computes in a cycle; 0: not published
  // The least errors of times that are scaled to this GPU; 0: as its reference states.
  double gemm_error = 0, attention_error = 0;
};

// True if both GPUs state the share of the dense rate that GEMMs reach, each for its type.
bool KnowShares(const ScalingFacts& to, DataType type, const ScalingFacts& from,
                DataType from_type);
// The ratio of the shares of the nearest type of which both GPUs state one: fp8 for quantized
// types, then 16 bits. 1 if there is none.
double NearestShareRatio(const ScalingFacts& to, DataType type, const ScalingFacts& from);

// All facts are unknown if the file has no such section. Reports all mistakes together.
Result<ScalingFacts> ReadScalingFacts(const std::string& file_text, const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_SCALING_FACTS_H_
