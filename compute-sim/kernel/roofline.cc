#include "compute-sim/kernel/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr double kMicro = 1e6;

// Bytes of a row of K elements at which half of GemmParameters::long_rows shows. Fits to a B200
// that leave this open find 8.4 KB in bf16, 7.6 KB in fp8 and 11.6 KB in MXFP8, so bytes count, not
// elements. 256 rows of 8 KiB, the rows of a tile of two SMs, fill a page of 2 MiB.
constexpr double kLongRow = 8192;

// A smooth maximum: (a^n + b^n)^(1/n).
double SmoothMax(double a, double b, double n) {
  return std::pow(std::pow(a, n) + std::pow(b, n), 1 / n);
}

// One GEMM, or `batch` of them, with the quantities that depend on its extents only.
struct GemmWork {
  double batch = 1, m = 0, n = 0, k = 0;
  double a = 0, b = 0, c = 0;  // bytes of the operands and of the result's traffic
  double element = 2;          // bytes of an operand's element
  double store = 2;            // bytes of traffic an element of the result causes
  double cold = 0;             // share of the activations that comes from HBM, 0..1
  double big = 0;              // share of re-reads that misses L2, 0..1
  double effort = 1;           // time of the arithmetic over that of the measured kernels
};

bool HasBatch(KernelKind kind) { return kind == KernelKind::kBatchedGemm || IsGrouped(kind); }

// The burst clocks of the SMs over their sustained clocks.
double Slowdown(const GemmParameters& set) { return 1 + std::max(0.0, set.derate); }

GemmWork WorkOf(const Kernel& kernel, const GpuShape& gpu, const GemmParameters& set,
                bool sustained) {
  GemmWork w;
  size_t first = 0;
  if (HasBatch(kernel.kind)) w.batch = static_cast<double>(kernel.dims[first++]);
  // Products that a loop launches run one after another: each fills the SMs for itself.
  const double together = kernel.looped > 0 ? 1 : w.batch;
  const double bytes = kernel.bytes / w.batch * together;
  w.batch = together;
  w.m = static_cast<double>(kernel.dims[first]);
  w.n = static_cast<double>(kernel.dims[first + 1]);
  w.k = static_cast<double>(kernel.dims[first + 2]);
  w.element = OperandBytes(kernel.type);
  w.a = w.batch * w.m * w.k * w.element;
  w.b = w.batch * w.n * w.k * w.element;
  w.c = bytes - w.a - w.b;
  w.store = w.c / (w.batch * w.m * w.n);
  const double warm = set.l2_warm * static_cast<double>(gpu.l2.count());
  w.cold = std::clamp(2 * (w.a + w.c) / warm - 1, 0.0, 1.0);
  w.big = std::clamp((w.a + w.b) / warm - 1, 0.0, 1.0);
  if (kernel.promoted) w.effort += set.promotion;
  if (kernel.row_scaled) w.effort += set.row_scales;
  // At the power limit, rows of any length have the rate of long ones: SimuMax's products of a B200
  // from 1 ms reach 1089 to 1113 TFLOPS on average for K from 4096 as for K from 32,768.
  const double row = w.k * w.element / kLongRow;
  const double burst = 1 + set.long_rows * row * row / (1 + row * row);
  const double limit = (1 + set.derate) * (1 + set.long_rows);
  w.effort *= sustained ? std::max(limit, burst) / Slowdown(set) : burst;
  return w;
}

struct GemmCost {
  double us = 0;
  KernelBound bound = KernelBound::kTensorCores;
};

// HBM time if `rows` x `columns` tiles cover the result. SMs work on a near-square patch of tiles,
// so each operand is read once per patch row or column; the cheaper operand is read again.
double MemoryUs(const GemmWork& w, double rows, double columns, double sms,
                const GemmParameters& set) {
  const double side = std::sqrt(sms);
  const double patch_rows = std::clamp(sms / std::min(columns, side), 1.0, rows);
  const double patch_columns = std::clamp(sms / std::min(rows, side), 1.0, columns);
  const double again_b = std::ceil(rows / patch_rows) - 1;
  const double again_a = std::ceil(columns / patch_columns) - 1;
  const double reread_b = w.a * w.cold + w.b * (1 + again_b * w.big);
  const double reread_a = w.a * (w.cold + again_a * w.big) + w.b;
  return (std::min(reread_a, reread_b) + w.c * w.cold) / set.memory.bytes_per_second() * kMicro;
}

// `slowdown`: the burst clocks of the SMs over their clocks; at least 1.
GemmCost CostOf(const GemmWork& w, const Tile& tile, int64_t split, const GpuShape& gpu,
                int64_t tile_k, double slowdown, const GemmParameters& set) {
  const double sms = gpu.sms;
  const double tm = static_cast<double>(tile.rows), tn = static_cast<double>(tile.columns);
  const double s = static_cast<double>(split), step = static_cast<double>(tile_k);
  const double rows = std::ceil(w.m / tm), columns = std::ceil(w.n / tn);
  const double per_sm = rows * columns * s * w.batch / sms;
  const double depth = step * std::ceil(w.k / s / step);
  const double waves =
      (1 - set.persistence) * std::ceil(per_sm) + set.persistence * std::max(per_sm, 1.0);
  const double l2 = set.l2_to_sm.bytes_per_second();
  const double math =
      w.effort * 2 * tm * tn * depth * sms / set.tensor_rate.flops_per_second() * kMicro;
  const double feed = (tm + tn) * depth * w.element * sms / l2 * std::min(1.0, per_sm) * kMicro;
  const double wider = 1 + set.store_growth * (w.store / 2 - 1);
  const double store = set.tile_store.us() * tm * tn / (128.0 * 256.0) * wider;
  const double compute = slowdown * waves * (std::max(math, feed) + set.tile_start.us() + store);
  const double memory = MemoryUs(w, rows, columns, sms, set);
  GemmCost cost{SmoothMax(compute, memory, set.overlap),
                compute >= memory ? KernelBound::kTensorCores : KernelBound::kMemory};
  // The parts are written and read back in fp32.
  if (split > 1) cost.us += set.split_sync.us() + 8 * s * w.batch * w.m * w.n / l2 * kMicro;
  return cost;
}

double Share(const Kernel& kernel, const MemoryParameters& memory) {
  const int64_t columns = kernel.dims[1];
  switch (InfoOf(kernel.kind).curve) {
    case RateCurve::kPlain:
      return 1;
    case RateCurve::kLayerNorm:
      return ShareAt(memory.layer_norm, columns);
    case RateCurve::kFusedNorm:
      return memory.fused_norm;
    case RateCurve::kSoftmax:
      return ShareAt(memory.softmax, columns);
    case RateCurve::kNone:
      break;
  }
  CHECK(false);
}

// `extent` rounded up to the blocks that cover it: the last block only to the rows of a tensor
// core's instruction.
double Covered(double extent, double block) {
  constexpr double kInstruction = 16;
  const double whole = std::floor(extent / block) * block;
  return whole + kInstruction * std::ceil((extent - whole) / kInstruction);
}

// The number of scores that all blocks of queries compute, and that the longest block computes.
struct ScoreCount {
  double all = 0, longest = 0;
};

ScoreCount CountScores(const AttentionShape& s, double block) {
  const double queries = Covered(static_cast<double>(s.sequence), block);
  const double keys = Covered(static_cast<double>(s.kv_sequence), block);
  if (!s.causal) return {queries * keys, std::min(queries, block) * keys};
  // The last block of queries sees all keys; each earlier block sees one block of keys less.
  const double above = std::ceil(queries / block) - 1;
  const double last = queries - above * block;
  const double seen = std::max(keys - last, above * block);
  return {last * keys + block * (above * seen - block * above * (above - 1) / 2),
          std::max(last * keys, above > 0 ? block * seen : 0)};
}

// How far the clocks have settled at those of the power limit: 1 in a run; the longer a benchmark's
// kernel, the further.
double SettledShare(double us, const AttentionDerate& derate, KernelParameters::Clocks clocks) {
  if (clocks == KernelParameters::Clocks::kSustained || derate.time == 0) return 1;
  return 1 / (1 + std::pow(us / derate.at.us(), -derate.slope));
}

}  // namespace

KernelBound BoundOf(const Prediction& prediction) {
  return prediction.fixed_us > prediction.us / 2 ? KernelBound::kLaunch : prediction.bound;
}

Prediction PredictGemm(const Kernel& kernel, const GpuShape& gpu,
                       const KernelParameters& parameters, const GemmParameters& set,
                       KernelParameters::Clocks clocks) {
  const bool sustained = clocks == KernelParameters::Clocks::kSustained;
  const GemmWork work = WorkOf(kernel, gpu, set, sustained);
  const double slowdown = sustained ? Slowdown(set) : 1;
  GemmCost best;
  Tile best_tile;
  int64_t best_split = 0;
  for (const Tile& tile : parameters.tiles) {
    for (const int64_t split : parameters.splits) {
      const GemmCost cost = CostOf(work, tile, split, gpu, parameters.tile_k, slowdown, set);
      if (best_split != 0 && cost.us >= best.us) continue;
      best = cost;
      best_tile = tile;
      best_split = split;
    }
  }
  CHECK(best_split != 0);
  const bool grouped = IsGrouped(kernel.kind);
  const double groups = grouped ? static_cast<double>(kernel.dims[0]) : 1;
  if (kernel.looped > 0) best.us *= groups;
  if (!sustained) {  // the longer a benchmark's kernel, the more its clocks settle
    const double longness = set.derate_slope * std::log(best.us / set.derate_at.us());
    best.us *= 1 + (Slowdown(set) - 1) / (1 + std::exp(-longness));
  }
  const double starts = kernel.looped > 0 ? 0 : (groups - 1) * set.group_start.us();
  return {best.us + starts + set.launch.us(), set.launch.us(), best.bound,
          fmt::format("tile {}x{}, split {}{}", best_tile.rows, best_tile.columns, best_split,
                      kernel.looped > 0 ? ", one group after another" : "")};
}

Prediction PredictAttention(const Kernel& kernel, const GpuShape& gpu, const Bandwidth& hbm,
                            const AttentionParameters& library, KernelParameters::Clocks clocks) {
  const AttentionShape s = AttentionShapeOf(kernel);
  const bool forward = kernel.kind == KernelKind::kAttentionForward;
  const AttentionPass& pass = library.PassOf(forward, s.head_dim);
  const double width = static_cast<double>(s.head_dim), sms = gpu.sms;
  const double value = static_cast<double>(s.value_dim);
  const double block = static_cast<double>(pass.block > 0 ? pass.block : library.block);
  // Forward: Q K^T, P V. Backward: Q K^T again, dO V^T, P^T dO, dS K, dS^T Q.
  const double flops = forward ? 2 * (width + value) : 6 * width + 4 * value;
  const double per_score =
      (flops / pass.tensor_rate.flops_per_second() + 1e-12 / pass.scores_per_ps) * kMicro;
  const double blocks = std::ceil(static_cast<double>(s.sequence) / block);
  const ScoreCount scores = CountScores(s, block);
  const double start = pass.block_start.us();
  const double batch = static_cast<double>(s.batch), heads = static_cast<double>(s.heads);
  const double work = batch * heads * (scores.all * per_score + blocks * start / sms);
  const double longest = scores.longest * per_score * sms + start;
  // A pass is the mean of queries, results, keys and values.
  const double queries = static_cast<double>(s.sequence) * heads;
  const double kv = static_cast<double>(s.kv_sequence) * static_cast<double>(s.kv_heads);
  const double elements = batch * (queries + kv) * (width + value) / 4;
  const double traffic = elements * OperandBytes(kernel.type) / hbm.bytes_per_second() * kMicro;
  const double fast = SmoothMax(work, longest, pass.balance > 0 ? pass.balance : library.balance);
  const double math = fast * (1 + pass.derate.time * SettledShare(fast, pass.derate, clocks));
  const double overlapped = pass.overlapped_passes * traffic;
  const double us = pass.launch.us() + SmoothMax(math, overlapped, library.memory_overlap) +
                    pass.serial_passes * traffic;
  return {us, pass.launch.us(),
          math >= overlapped ? KernelBound::kTensorCores : KernelBound::kMemory, library.name};
}

Prediction PredictChunkProduct(const Kernel& kernel, const GemmParameters& set,
                               const MemoryParameters& memory, const AssumedShares& shares) {
  const double arithmetic = kernel.flops / (set.tensor_rate.flops_per_second() * shares.tensor) *
                            kMicro * (1 + set.long_rows);
  const double traffic = kernel.bytes / (memory.hbm.bytes_per_second() * shares.memory) * kMicro;
  const double fixed = memory.launch.us();
  return {fixed + std::max(arithmetic, traffic), fixed,
          arithmetic >= traffic ? KernelBound::kTensorCores : KernelBound::kMemory,
          fmt::format("assumed: {:.0f} % of the tensor rate, {:.0f} % of the bandwidth",
                      shares.tensor * 100, shares.memory * 100)};
}

Prediction PredictSparseProduct(const Kernel& kernel, const GemmParameters& set,
                                const MemoryParameters& memory, const AssumedShares& shares) {
  const auto& d = kernel.dims;
  const double loads = static_cast<double>(d[0]) * static_cast<double>(d[2] * d[4]);
  const double arithmetic = kernel.flops / (set.tensor_rate.flops_per_second() * shares.tensor) *
                            kMicro * (1 + set.long_rows);
  const double share = d[6] != 0 ? shares.memory : 1;
  const double loaded = loads / (memory.l2.bytes_per_second() * share) * kMicro;
  const double traffic = kernel.bytes / memory.hbm.bytes_per_second() * kMicro;
  const double fixed = memory.launch.us();
  return {
      fixed + std::max({arithmetic, loaded, traffic}), fixed,
      arithmetic >= std::max(loaded, traffic) ? KernelBound::kTensorCores : KernelBound::kMemory,
      fmt::format("assumed: {:.0f} % of the tensor rate, {:.0f} % of L2's bandwidth",
                  shares.tensor * 100, share * 100)};
}

Prediction PredictMemoryKernel(const Kernel& kernel, const GpuShape& gpu,
                               const MemoryParameters& memory) {
  const double fits = memory.l2_share * static_cast<double>(gpu.l2.count());
  const double outside = std::clamp(kernel.bytes / fits - 1, 0.0, 1.0);
  const double per_byte =
      (1 - outside) / memory.l2.bytes_per_second() + outside / memory.hbm.bytes_per_second();
  const double share = Share(kernel, memory);
  const double fixed = memory.launch.us() * (kernel.launches + kernel.looped);
  return {fixed + kernel.bytes * per_byte / share * kMicro, fixed, KernelBound::kMemory,
          fmt::format("{:.0f} % of plain bandwidth", share * 100)};
}

}  // namespace drydock
