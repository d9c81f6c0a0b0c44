#include "compute-sim/measure/measure_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "compute-sim/submodules/submodule_kernels.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

using K = KernelKind;

// The longest row of a kernel that holds whole rows: 1024 threads with 8 times 8 elements each.
constexpr int64_t kLongestRow = 65536;
constexpr int64_t kWidestHead = 256;
constexpr int64_t kMaxGroups = 4096;  // one launch each

// The traffic per element of the kernels that can be measured, in thousandths of a byte. Elements
// have 16 bits; with several values, the other kernels read or write 32 bits.
std::vector<int64_t> MeasuredTraffic(KernelKind kind) {
  switch (kind) {
    case K::kSoftmax:
      return {4000, 6000};
    case K::kSoftmaxBackward:
      return {6000, 10000};
    case K::kNormParameters:
    case K::kElementwise:
      return {4000, 8000};
    case K::kRowReduce:
      return {2000, 4000};
    case K::kFill:
      return {2000, 3000};
    case K::kBiasDropoutAdd:
      return {6000, 7000};
    case K::kRowMap:
      return {5000, 8000};
    case K::kCausalConv:  // no kernel here measures a convolution
    case K::kCausalConvBackward:
    case K::kEmbeddingBackward:  // an index decides the traffic of these two, not their extents
    case K::kScatter:
    case K::kTopK:
    case K::kPermute:
    case K::kUnpermute:
      return {};
    default:
      return {std::llround(*UsualBytesPerElement(kind, DataType::kBf16) * 1000)};
  }
}

// True if each row is read or written a whole number of times: 2 B + 2 B / copies.
bool IsWholeCopies(const Kernel& kernel) {
  const int64_t shared = MilliBytesPerElement(kernel) - 2000;
  if (shared <= 0 || shared > 2000) return false;
  const int64_t copies = std::llround(2000.0 / static_cast<double>(shared));
  return kernel.dims[0] % copies == 0 && 2000 / copies - shared <= 1 && shared <= 2000 / copies + 1;
}

// True if the kernel accepts its extents: rows of whole packs of 16 B, or whole tiles.
bool FitsRows(const Kernel& kernel) {
  const int64_t rows = kernel.dims[0], columns = kernel.dims[1];
  switch (kernel.kind) {
    case K::kCausalSoftmax:
    case K::kCausalSoftmaxBackward:  // square: as many queries as keys
      return rows % columns == 0 && columns % 8 == 0 && columns <= kLongestRow;
    case K::kLayerNorm:
    case K::kLayerNormBackward:
    case K::kFusedNorm:
    case K::kFusedNormBackward:
    case K::kSoftmax:
    case K::kSoftmaxBackward:
      return columns % 8 == 0 && columns <= kLongestRow;
    case K::kQuantize:
      return rows % 64 == 0 && columns % 64 == 0;
    case K::kNormParameters:
    case K::kBiasGradient:
    case K::kRowReduce:
    case K::kEmbedding:
    case K::kPermute:
    case K::kUnpermute:
      return columns % 8 == 0;
    default:
      return true;
  }
}

bool IsHalf(DataType type) { return type == DataType::kBf16 || type == DataType::kFp16; }

bool IsMeasurableGemm(const Kernel& kernel) {
  const bool half = IsHalf(kernel.type);
  switch (kernel.kind) {
    case K::kGemmAccumulate:
      if (kernel.main_gradient != kMeasuredMainGradient) return false;
      [[fallthrough]];
    case K::kGemm:
      return half || kernel.type == DataType::kFp8;
    case K::kGroupedGemmAccumulate:
      if (kernel.main_gradient != kMeasuredMainGradient) return false;
      [[fallthrough]];
    case K::kGroupedGemm:
      return (half || kernel.type == DataType::kFp8) && kernel.dims[0] <= kMaxGroups;
    case K::kBatchedGemm:
      return half;
    default:
      return false;
  }
}

// cuDNN's kernels read packs of 16 B of a head.
bool IsMeasurableAttention(const Kernel& kernel) {
  const AttentionShape s = AttentionShapeOf(kernel);
  const auto fits = [](int64_t width) { return width % 8 == 0 && width <= kWidestHead; };
  return IsHalf(kernel.type) && fits(s.head_dim) && fits(s.value_dim) && s.heads % s.kv_heads == 0;
}

Submodule OfGrid(DataType type, SubmoduleWork work, Pass pass = Pass::kForward) {
  return {.name = "grid", .pass = pass, .type = type, .work = work};
}

void AddGemms(const MeasureGrid& grid, std::vector<Submodule>* out) {
  for (const int64_t n : grid.widths) {
    for (const int64_t k : grid.widths) {
      for (const int64_t m : grid.rows) {
        out->push_back(OfGrid(grid.type, submodule::Linear{.rows = m, .n = n, .k = k}));
      }
    }
  }
}

void AddMemoryBound(DataType type, int64_t rows, int64_t width, std::vector<Submodule>* out) {
  const auto both_passes = [&](const SubmoduleWork& work) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      out->push_back(OfGrid(type, work, pass));
    }
  };
  both_passes(submodule::Norm{.rows = rows, .n = width});
  both_passes(submodule::Norm{.rows = rows, .n = width, .fused = true});
  both_passes(submodule::Activation{.rows = rows, .n = width});
  both_passes(submodule::Activation{.rows = rows, .n = width, .gated = true});
  both_passes(submodule::BiasDropoutAdd{.rows = rows, .n = width});
  both_passes(submodule::BiasDropoutAdd{.rows = rows, .n = width, .dropout = true});
  both_passes(submodule::Rotary{.rows = rows, .n = width, .fused = true});
  both_passes(submodule::CrossEntropy{.rows = rows, .n = width});
  const submodule::FlatBuffer buffer{rows * width};
  for (const SubmoduleWork& work :
       {SubmoduleWork(submodule::Add{.rows = rows, .n = width}),
        SubmoduleWork(submodule::Quantize{.rows = rows, .n = width, .fused = true}),
        SubmoduleWork(submodule::Optimizer{buffer}),
        SubmoduleWork(submodule::GradientScale{buffer}),
        SubmoduleWork(submodule::GradientNorm{buffer}), SubmoduleWork(submodule::Cast{buffer})}) {
    out->push_back(OfGrid(type, work));
  }
}

}  // namespace

bool IsMeasurable(const Kernel& kernel) {
  if (IsAttention(kernel.kind)) return IsMeasurableAttention(kernel);
  if (!IsMemoryKernel(kernel.kind)) return IsMeasurableGemm(kernel);
  if (!IsHalf(kernel.type)) return false;
  if (!FitsRows(kernel)) return false;
  if (kernel.kind == K::kPermute || kernel.kind == K::kUnpermute) return IsWholeCopies(kernel);
  const std::vector<int64_t> known = MeasuredTraffic(kernel.kind);
  return std::find(known.begin(), known.end(), MilliBytesPerElement(kernel)) != known.end();
}

Result<MeasurePlan> PlanMeasurements(const std::vector<Submodule>& submodules,
                                     const KernelAssumptions& assumptions, const Profile* present) {
  MeasurePlan plan;
  std::set<std::tuple<KernelKind, DataType, std::array<int64_t, kMaxKernelDims>, int64_t>> seen;
  for (const Submodule& submodule : submodules) {
    // The quantization that is measured writes the transpose as well (measure_columns.cu).
    ASSIGN_OR_RETURN(const std::vector<Kernel> kernels,
                     KernelsOf(submodule, assumptions, Fp8Layouts::kOne));
    for (Kernel kernel : kernels) {
      // Rows are measured without both (docs/reference/kernel-profile.md).
      kernel.promoted = kernel.row_scaled = false;
      const int64_t bytes = MilliBytesPerElement(kernel);
      if (!seen.emplace(kernel.kind, kernel.type, kernel.dims, bytes).second) continue;
      if (!IsMeasurable(kernel))
        ++plan.left_out[InfoOf(kernel.kind).name];
      else if (present != nullptr && FindRow(*present, kernel).has_value())
        ++plan.known;
      else
        plan.kernels.push_back(kernel);
    }
  }
  return plan;
}

void LeaveOutAttention(MeasurePlan* plan) {
  std::erase_if(plan->kernels, [&](const Kernel& kernel) {
    if (!IsAttention(kernel.kind)) return false;
    ++plan->left_out[InfoOf(kernel.kind).name];
    return true;
  });
}

std::string LeftOutText(const MeasurePlan& plan) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : plan.left_out)
    parts.push_back(fmt::format("{} {}", count, name));
  return Join(parts);
}

std::vector<Submodule> GridSubmodules(const MeasureGrid& grid) {
  std::vector<Submodule> submodules;
  if (grid.gemms) AddGemms(grid, &submodules);
  if (!grid.memory) return submodules;
  for (const int64_t width : grid.widths) {
    for (const int64_t rows : grid.rows) AddMemoryBound(grid.type, rows, width, &submodules);
  }
  return submodules;
}

}  // namespace drydock
