// The `kernels:` section of a GPU's file: the parameters of its calibrated kernel models
// (docs/explanation/compute.md explains each; roofline.h has the formulas). Plain data; immutable
// once read.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/gpu.h"

namespace drydock {

struct Tile {
  int64_t rows = 0, columns = 0;
};

// Mean of |predicted/measured - 1| over rows that no fit used; 0: not stated.
struct FitErrors {
  double large = 0;  // of kernels that are IsLarge
  double small = 0;  // of the others
};

// The quantization of a GEMM's activations by a framework that computes their scale anew.
struct QuantizeStage {
  Time launch;
  double bytes = 0;  // an activation
};

struct GemmParameters {
  std::vector<DataType> types;
  FlopRate tensor_rate;  // all SMs, inside the main loop
  Bandwidth memory;      // HBM
  Bandwidth l2_to_sm;    // all SMs together
  Time launch;
  Time tile_start;
  Time tile_store;          // of a 128 x 256 tile of 16-bit results
  double store_growth = 1;  // share of tile_store that grows with the bytes of wider results
  double persistence = 0;   // 0: whole waves .. 1: SMs take tiles as they become free
  double overlap = 1;       // exponent joining arithmetic and memory
  Time split_sync;
  // Extra time at sustained clocks, see KernelParameters::Clocks. Below 0: the power limit leaves
  // long rows more than their burst rate and short rows less than theirs, down to the latter.
  double derate = 0;
  Time derate_at;  // length of a kernel at which a benchmark's clocks have settled half
  double derate_slope = 1;
  double l2_warm = 1;     // share of L2 in which operands are found
  double row_scales = 0;  // extra time of the main loop of GEMMs with a scale for each row
  double long_rows = 0;   // extra time of the main loop at burst clocks where rows of K are long
  double promotion = 0;   // extra time of the main loop of GEMMs that promote sums to fp32
  Time group_start;       // of each further group that one kernel computes
  // The sustained rate grows with this power of the power limit; 0: it does not depend on it.
  double power_exponent = 0;
  QuantizeStage quantize;  // all 0: that of MemoryParameters
  FitErrors error;
};

// What the power limit takes from attention.
struct AttentionDerate {
  double time =
      0;    // extra time of its arithmetic at sustained clocks; see KernelParameters::Clocks
  Time at;  // length of a kernel at which a benchmark's clocks have settled half
  double slope = 1;
};

struct AttentionPass {
  int64_t block = 0;   // query rows of a thread block; 0: the library's
  double balance = 0;  // 0: the library's
  Time launch;
  FlopRate tensor_rate;
  double scores_per_ps = 1;
  Time block_start;
  double overlapped_passes = 0;  // over batch x sequence x heads x head_dim elements
  double serial_passes = 0;
  AttentionDerate derate;
};

struct AttentionParameters {
  std::string name;  // "flash-2"
  std::vector<DataType> types;
  int64_t block = 128;        // query rows of a thread block
  double balance = 1;         // exponent joining total work and the longest row of blocks
  double memory_overlap = 1;  // exponent joining arithmetic and memory
  AttentionPass forward, backward;
  int64_t wide_from = 0;  // the head size from which on the wide passes count; 0: they never do
  AttentionPass wide_forward, wide_backward;
  FitErrors error;

  bool IsWide(int64_t head_dim) const { return wide_from > 0 && head_dim >= wide_from; }
  const AttentionPass& PassOf(bool is_forward, int64_t head_dim) const {
    if (IsWide(head_dim)) return is_forward ? wide_forward : wide_backward;
    return is_forward ? forward : backward;
  }
};

// A share of the plain bandwidth by row length, ascending.
using ShareCurve = std::vector<std::pair<int64_t, double>>;

struct MemoryParameters {
  Time launch;
  Bandwidth hbm;
  Bandwidth l2;
  double l2_share = 1;
  ShareCurve layer_norm;
  ShareCurve softmax;
  double fused_norm = 1;
  QuantizeStage quantize;  // to fp8; all 0: not known
  FitErrors error;
};

// The mean error, as a share, of times scaled from this GPU to another measured GPU (0: not
// tested).
struct ScalingErrors {
  double gemm = 0, attention = 0, memory = 0;
  double gemm_with_share = 0;  // of GEMMs where both GPUs' ScalingFacts::matmul_share is known
};

struct KernelParameters {
  // kSustained: a run of hours, in which every kernel runs at the clocks of the power limit.
  // kBurst: a benchmark of a few launches, in which only long kernels reach the power limit.
  enum class Clocks : uint8_t { kSustained, kBurst };
  static const std::vector<std::string>& ClocksNames();  // in enum order
  static std::optional<Clocks> ClocksOf(std::string_view name);
  Clocks clocks = Clocks::kSustained;
  int power_limit = 0;  // W, at which the sustained rates hold; 0: the one of `scaling:`
  Time launch_gap;      // between two kernels of a stream, beyond their own launch
  std::vector<Tile> tiles;
  std::vector<int64_t> splits;
  int64_t tile_k = 64;
  std::vector<GemmParameters> gemm;
  std::vector<AttentionParameters> attention;
  size_t default_attention = 0;  // the library that Transformer Engine picks on this GPU
  size_t pytorch_attention = 0;  // the library that scaled_dot_product_attention picks
  MemoryParameters memory;
  ScalingErrors scaling;

  // Null if the type is not calibrated.
  const GemmParameters* GemmFor(DataType type) const;
  // `backend`: the name of a library, or kAttentionByTransformerEngine (also "") or
  // kAttentionByPytorch for the library that they pick.
  const AttentionParameters* AttentionFor(DataType type, const std::string& backend) const;
  std::vector<std::string> AttentionNames() const;
  // The valid values of `backend`: first the frameworks that pick a library, then the libraries.
  std::vector<std::string> AttentionBackends() const;
};

// Reads the section from the whole text of a GPU's file. Reports all mistakes together. Sets
// `*present` to false and returns default parameters if the file has no `kernels:`.
Result<KernelParameters> ReadKernelParameters(const std::string& file_text,
                                              const std::string& file_name, bool* present);

// Interpolates linearly over the logarithm of the row length; constant beyond both ends.
double ShareAt(const ShareCurve& curve, int64_t columns);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_H_
