// What memory-bound kernels move, where nothing else is said.
#include <cmath>

#include "compute-sim/kernel/kernel.h"
#include "core/base/check.h"

namespace drydock {

std::optional<double> UsualBytesPerElement(KernelKind kind, DataType type) {
  const double e = static_cast<double>(SizeOf(type).count());
  using K = KernelKind;
  switch (kind) {
    case K::kLayerNorm:
    case K::kFusedNorm:
    case K::kNormParameters:
    case K::kSoftmax:
    case K::kCausalSoftmaxBackward:
    case K::kBiasAdd:
    case K::kGelu:
    case K::kRotary:
    case K::kEmbedding:
    case K::kElementwise:
    case K::kCopy:
    case K::kScale:
      return 2 * e;
    case K::kLayerNormBackward:
    case K::kFusedNormBackward:
    case K::kSoftmaxBackward:
    case K::kAdd:
    case K::kGeluBackward:
    case K::kSwiglu:
    case K::kEmbeddingBackward:
      return 3 * e;
    case K::kSwigluBackward:
      return 5 * e;
    case K::kCausalSoftmax:
      return 1.5 * e;
    case K::kDropout:
    case K::kDropoutBackward:
      return 2 * e + 1;
    case K::kBiasDropoutAdd:
      return 3 * e + 1;
    case K::kBiasGradient:
    case K::kFill:
    case K::kSquareSum:
      return e;
    case K::kCast:
    case K::kQuantise:
      return kind == K::kCast ? 4 + e : 4;
    case K::kAccumulate:
      return 8 + e;
    case K::kAdam:
      return 28;
    case K::kRowReduce:  // of 16 bits before a quantisation, of 32 in a cross-entropy
    case K::kTopK:       // from here on, how many are picked
    case K::kScatter:
    case K::kRowMap:
    case K::kPermute:
    case K::kUnpermute:
    case K::kGemm:
    case K::kGemmAccumulate:
    case K::kBatchedGemm:
    case K::kGroupedGemm:
    case K::kGroupedGemmAccumulate:
    case K::kAttentionForward:
    case K::kAttentionBackward:
      return std::nullopt;
  }
  CHECK(false);
}

int64_t MilliBytesPerElement(const Kernel& kernel) {
  if (!IsMemoryKernel(kernel.kind)) return 0;
  const double elements = static_cast<double>(kernel.dims[0]) * static_cast<double>(kernel.dims[1]);
  return elements > 0 ? std::llround(kernel.bytes / elements * 1000) : 0;
}

Kernel UsualMemoryKernel(KernelKind kind, DataType type, int64_t rows, int64_t columns) {
  const std::optional<double> bytes = UsualBytesPerElement(kind, type);
  CHECK(bytes.has_value());
  return MemoryKernel(kind, type, rows, columns, *bytes);
}

}  // namespace drydock
