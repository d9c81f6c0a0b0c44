// The traffic of memory-bound kernels per element, by kind: the operands read and written once
// each.
#include <cmath>

#include "compute-sim/kernel/kernel.h"
#include "core/base/check.h"

namespace drydock {

std::optional<double> UsualBytesPerElement(KernelKind kind, DataType type) {
  const double e = OperandBytes(type);
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
    case K::kCausalConv:
      return 2 * e;
    case K::kLayerNormBackward:
    case K::kFusedNormBackward:
    case K::kSoftmaxBackward:
    case K::kAdd:
    case K::kGeluBackward:
    case K::kSwiglu:
    case K::kEmbeddingBackward:
    case K::kCausalConvBackward:
      return 3 * e;
    case K::kSwigluBackward:
      return 5 * e;
    case K::kCausalSoftmax:
      return 1.5 * e;  // reads the lower triangle, writes everything
    case K::kDropout:  // the mask has one byte per element
    case K::kDropoutBackward:
      return 2 * e + 1;
    case K::kBiasDropoutAdd:  // branch, residual and result, and the mask
      return 3 * e + 1;
    case K::kBiasGradient:
    case K::kFill:
    case K::kSquareSum:
      return e;
    case K::kCast:  // between fp32 and the type
      return 4 + e;
    case K::kQuantize:  // reads 16 bits, writes fp8 and its transpose
      return 4;
    case K::kAccumulate:  // reads the gradient, reads and writes fp32
      return 8 + e;
    case K::kAdam:  // reads gradient, parameter and two moments in fp32, writes the last three
      return 28;
    case K::kRowReduce:  // reads 16 bits before a quantization, 32 bits in a cross-entropy
    case K::kTopK:       // from here on, the traffic depends on the number of picks
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
    case K::kChunkProduct:
    case K::kSparseProduct:
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
