// A GPU kernel as compute-sim sees it: a kind, a data type and the extents that decide its time.
// Plain data; the table of kinds is immutable. Thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpu.h"

namespace drydock {

enum class KernelKind : uint8_t {
  kGemm,            // C[m,n] = A[m,k] B[k,n], result in the operands' type
  kGemmAccumulate,  // the same, added into C, in fp32 unless main_gradient is 2
  kBatchedGemm,     // `batch` independent GEMMs
  kGroupedGemm,     // one GEMM of m rows for each of `groups` experts
  kGroupedGemmAccumulate,
  kAttentionForward,   // fused: scores never leave the SM
  kAttentionBackward,  // fused: all of its kernels together
  kChunkProduct,       // products of the chunks of a scan over the sequence, written in Triton
  kSparseProduct,      // products of each query's heads with the keys that it picks or sees
  // The kernels from here on are memory-bound and have the extents rows x columns.
  kLayerNorm,
  kLayerNormBackward,
  kNormParameters,  // gradients of a norm's weight and bias
  kFusedNorm,       // a row stays in registers
  kFusedNormBackward,
  kSoftmax,
  kCausalSoftmax,  // scale, mask the upper triangle, softmax
  kSoftmaxBackward,
  kCausalSoftmaxBackward,
  kDropout,
  kDropoutBackward,
  kBiasAdd,
  kBiasGradient,  // column sums
  kBiasDropoutAdd,
  kAdd,
  kGelu,
  kGeluBackward,
  kSwiglu,
  kSwigluBackward,
  kRotary,
  kEmbedding,
  kEmbeddingBackward,
  kRowReduce,    // maximum or sum of each row
  kElementwise,  // one operand in, one out
  kFill,
  kCopy,
  kCast,
  kQuantize,    // 16 bit to fp8, and its transpose
  kAccumulate,  // 16 bit gradient added into fp32
  kScale,
  kSquareSum,
  kAdam,
  kTopK,
  kScatter,     // elements to or from the positions in an index
  kRowMap,      // the position of each token, from the experts it picked
  kPermute,     // rows copied into the order of experts
  kUnpermute,   // the reverse: several rows summed into one
  kCausalConv,  // each column convolved with the few rows before it
  kCausalConvBackward,
};
inline constexpr int kKernelKindCount = static_cast<int>(KernelKind::kCausalConvBackward) + 1;

// How a memory-bound kernel's rate depends on the row length (MemoryParameters).
enum class RateCurve : uint8_t { kNone, kPlain, kLayerNorm, kFusedNorm, kSoftmax };

struct KernelInfo {
  KernelKind kind;
  std::string name;                     // in profiles and artefacts
  std::vector<std::string> dimensions;  // names of Kernel::dims, in order
  RateCurve curve;                      // kNone: the kernel is not memory-bound
};

inline constexpr int kMaxKernelDims = 8;
// The largest extent of an input. With larger ones, products of extents overflow.
inline constexpr int64_t kMaxExtent = int64_t{1} << 40;
// The longest time of one kernel. A longer prediction comes from extents that no GPU can hold.
inline constexpr Time kLongestKernel = Time::Us(3'600'000'000);

struct Kernel {
  KernelKind kind = KernelKind::kGemm;
  DataType type = DataType::kBf16;
  std::array<int64_t, kMaxKernelDims> dims = {};  // by KernelInfo::dimensions; the others are 0
  double flops = 0;                               // on tensor cores; 0 for memory-bound kernels
  double bytes = 0;                               // memory traffic if every operand moves once
  int launches = 1;                               // number of kernels that it represents
  int looped = 0;                                 // further launches by a loop over experts
  int64_t main_gradient = 0;  // bytes of an element of the main gradient it adds into; 0: none
  bool promoted = false;      // an fp8 GEMM that promotes its partial sums to fp32
  bool row_scaled = false;    // an fp8 GEMM with a scale for each row (PyTorch's, of CUTLASS)
};

// Measured rows of accumulating GEMMs add into an fp32 main gradient.
inline constexpr int64_t kMeasuredMainGradient = 4;

const KernelInfo& InfoOf(KernelKind kind);
const std::vector<KernelInfo>& KernelInfos();  // in enum order
std::vector<std::string> KernelNames();
// Null if there is no such kernel.
const KernelInfo* FindKernelInfo(std::string_view name);
bool IsMemoryKernel(KernelKind kind);
bool IsAttention(KernelKind kind);
bool IsGrouped(KernelKind kind);
// A GEMM, batched, grouped or accumulating.
bool IsGemm(KernelKind kind);
// True for chunk and sparse products, whose rates configs/kernels.yaml assumes.
bool HasAssumedRate(KernelKind kind);
// The shortest of m, n and k.
int64_t ShortestExtent(const Kernel& gemm);
// True for the kernels that take most of the time in training: GEMMs with all extents from 1024,
// attention, chunk and sparse products from 1 GFLOP, other kernels from 1 MB.
bool IsLarge(const Kernel& kernel);

// Bytes per element of rows x columns that a memory-bound kernel of this kind usually moves
// (docs/reference/submodules.md); nullopt if the traffic depends on more than the kind and the
// type.
std::optional<double> UsualBytesPerElement(KernelKind kind, DataType type);
// The traffic of `kernel` per element in thousandths of a byte, which can be compared; 0 unless the
// kernel is memory-bound.
int64_t MilliBytesPerElement(const Kernel& kernel);

// "8192x2304x6144 fp16": the extents in KernelInfo order; the bytes per element ("5 B each") where
// they are not the usual ones.
std::string ShapeString(const Kernel& kernel);

// Constructors that fill in FLOPs and bytes.
Kernel Gemm(DataType type, int64_t m, int64_t n, int64_t k);
// `element`: bytes of the main gradient's element, which is read and written; 4 or 2.
Kernel GemmAccumulate(DataType type, int64_t m, int64_t n, int64_t k, int64_t element = 4);
Kernel BatchedGemm(DataType type, int64_t batch, int64_t m, int64_t n, int64_t k);
// `experts` GEMMs, each of `m` rows; accumulating or not, `element` as above.
Kernel GroupedGemm(KernelKind kind, DataType type, int64_t groups, int64_t m, int64_t n, int64_t k,
                   int64_t element = 4);
// `kv_sequence` keys and values of `value_dim` for `sequence` queries. 0: as many keys as queries,
// values as wide as keys. If causal, the last query sees all keys, and each earlier query one key
// less than the next.
struct AttentionShape {
  int64_t batch = 0, sequence = 0, heads = 0, kv_heads = 0, head_dim = 0;
  bool causal = false;
  int64_t kv_sequence = 0, value_dim = 0;
};
// The backward pass computes the scores again (FlashAttention): five GEMMs instead of two.
Kernel Attention(KernelKind kind, DataType type, const AttentionShape& shape);
// Returns the shape with kv_sequence and value_dim filled in.
AttentionShape AttentionShapeOf(const Kernel& kernel);
// The reason why a shape is impossible: "is causal with 64 queries and only 32 keys"; else "".
std::string ContradictionOf(const AttentionShape& shape);
// `bytes_per_element`: traffic for each element of rows x columns, all operands together.
Kernel MemoryKernel(KernelKind kind, DataType type, int64_t rows, int64_t columns,
                    double bytes_per_element);

// `batch` products m x n x k. `sharing` of them read the same m x k operand; an element of the
// result has `result_bytes`, or 0 if the kernel keeps only sums of it.
struct ChunkProductShape {
  int64_t batch = 0, m = 0, n = 0, k = 0;
  int64_t sharing = 1;
  int64_t result_bytes = 2;
};
Kernel ChunkProduct(DataType type, const ChunkProductShape& shape);

// Each of `rows` queries with `heads` heads multiplies them with `keys` keys: `width` multiply-adds
// for a head and key, over all of the kernel's products. A row loads `key_bytes` for each key from
// L2, one after another or at the positions of picks, and moves `row_bytes` of its own through
// memory.
struct SparseProductShape {
  int64_t rows = 0, heads = 0, keys = 0, width = 0;
  int64_t key_bytes = 0, row_bytes = 0;
  bool gathered = false;
};
Kernel SparseProduct(DataType type, const SparseProductShape& shape);

// With the usual bytes per element. REQUIRES: the kind has them (UsualBytesPerElement).
Kernel UsualMemoryKernel(KernelKind kind, DataType type, int64_t rows, int64_t columns);

// `like` with another type or other extents, and the FLOPs and traffic of these. A memory-bound
// kernel keeps its bytes per element; a loop runs once for each group.
Kernel Resized(const Kernel& like, DataType type, const std::array<int64_t, kMaxKernelDims>& dims);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_H_
