#include "compute-sim/kernel/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace drydock {
namespace {

using Dims = std::vector<std::string>;

KernelInfo Row(KernelKind kind, std::string name, RateCurve curve = RateCurve::kPlain) {
  return {kind, std::move(name), {"rows", "columns"}, curve};
}

std::vector<KernelInfo> MakeInfos() {
  using K = KernelKind;
  const Dims gemm = {"m", "n", "k"};
  const Dims attention = {"batch",    "sequence", "heads",       "kv_heads",
                          "head_dim", "causal",   "kv_sequence", "value_dim"};
  std::vector<KernelInfo> infos = {
      {K::kGemm, "gemm", gemm, RateCurve::kNone},
      {K::kGemmAccumulate, "gemm-accumulate", gemm, RateCurve::kNone},
      {K::kBatchedGemm, "batched-gemm", {"batch", "m", "n", "k"}, RateCurve::kNone},
      {K::kGroupedGemm, "grouped-gemm", {"groups", "m", "n", "k"}, RateCurve::kNone},
      {K::kGroupedGemmAccumulate,
       "grouped-gemm-accumulate",
       {"groups", "m", "n", "k"},
       RateCurve::kNone},
      {K::kAttentionForward, "attention-forward", attention, RateCurve::kNone},
      {K::kAttentionBackward, "attention-backward", attention, RateCurve::kNone},
      {K::kChunkProduct,
       "chunk-product",
       {"batch", "m", "n", "k", "sharing", "result_bytes"},
       RateCurve::kNone},
      {K::kSparseProduct,
       "sparse-product",
       {"rows", "heads", "keys", "width", "key_bytes", "row_bytes", "gathered"},
       RateCurve::kNone},
      Row(K::kLayerNorm, "layer-norm", RateCurve::kLayerNorm),
      Row(K::kLayerNormBackward, "layer-norm-backward", RateCurve::kLayerNorm),
      Row(K::kNormParameters, "norm-parameters"),
      Row(K::kFusedNorm, "fused-norm", RateCurve::kFusedNorm),
      Row(K::kFusedNormBackward, "fused-norm-backward", RateCurve::kFusedNorm),
      Row(K::kSoftmax, "softmax", RateCurve::kSoftmax),
      Row(K::kCausalSoftmax, "causal-softmax", RateCurve::kSoftmax),
      Row(K::kSoftmaxBackward, "softmax-backward", RateCurve::kSoftmax),
      Row(K::kCausalSoftmaxBackward, "causal-softmax-backward", RateCurve::kSoftmax),
      Row(K::kDropout, "dropout"),
      Row(K::kDropoutBackward, "dropout-backward"),
      Row(K::kBiasAdd, "bias-add"),
      Row(K::kBiasGradient, "bias-gradient"),
      Row(K::kBiasDropoutAdd, "bias-dropout-add"),
      Row(K::kAdd, "add"),
      Row(K::kGelu, "gelu"),
      Row(K::kGeluBackward, "gelu-backward"),
      Row(K::kSwiglu, "swiglu"),
      Row(K::kSwigluBackward, "swiglu-backward"),
      Row(K::kRotary, "rotary"),
      Row(K::kEmbedding, "embedding"),
      Row(K::kEmbeddingBackward, "embedding-backward"),
      Row(K::kRowReduce, "row-reduce"),
      Row(K::kElementwise, "elementwise"),
      Row(K::kFill, "fill"),
      Row(K::kCopy, "copy"),
      Row(K::kCast, "cast"),
      Row(K::kQuantize, "quantise"),
      Row(K::kAccumulate, "accumulate"),
      Row(K::kScale, "scale"),
      Row(K::kSquareSum, "square-sum"),
      Row(K::kAdam, "adam"),
      Row(K::kTopK, "top-k"),
      Row(K::kScatter, "scatter"),
      Row(K::kRowMap, "row-map"),
      Row(K::kPermute, "permute"),
      Row(K::kUnpermute, "unpermute"),
      Row(K::kCausalConv, "causal-conv"),
      Row(K::kCausalConvBackward, "causal-conv-backward"),
  };
  CHECK(infos.size() == static_cast<size_t>(kKernelKindCount));
  for (size_t i = 0; i < infos.size(); ++i) CHECK(infos[i].kind == static_cast<KernelKind>(i));
  return infos;
}

double Product(double a, double b, double c) { return a * b * c; }

Kernel GemmOfKind(KernelKind kind, DataType type, int64_t m, int64_t n, int64_t k,
                  double result_bytes) {
  Kernel kernel{kind, type, {m, n, k}};
  const double md = static_cast<double>(m), nd = static_cast<double>(n);
  const double kd = static_cast<double>(k);
  const double in = OperandBytes(type);
  kernel.flops = 2 * Product(md, nd, kd);
  kernel.bytes = in * (md * kd + nd * kd) + result_bytes * md * nd;
  return kernel;
}

// A GEMM of a quantized type has a 16-bit result.
double ResultBytes(DataType type) { return std::max(2.0, OperandBytes(type)); }

}  // namespace

const std::vector<KernelInfo>& KernelInfos() {
  static const std::vector<KernelInfo> infos = MakeInfos();
  return infos;
}

const KernelInfo& InfoOf(KernelKind kind) { return KernelInfos()[static_cast<size_t>(kind)]; }

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const KernelInfo& info : KernelInfos()) names.push_back(info.name);
  return names;
}

const KernelInfo* FindKernelInfo(std::string_view name) {
  for (const KernelInfo& info : KernelInfos()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

bool IsMemoryKernel(KernelKind kind) { return InfoOf(kind).curve != RateCurve::kNone; }

bool IsAttention(KernelKind kind) {
  return kind == KernelKind::kAttentionForward || kind == KernelKind::kAttentionBackward;
}

bool IsGrouped(KernelKind kind) {
  return kind == KernelKind::kGroupedGemm || kind == KernelKind::kGroupedGemmAccumulate;
}

bool IsGemm(KernelKind kind) {
  return !IsMemoryKernel(kind) && !IsAttention(kind) && !HasAssumedRate(kind);
}

bool HasAssumedRate(KernelKind kind) {
  return kind == KernelKind::kChunkProduct || kind == KernelKind::kSparseProduct;
}

int64_t ShortestExtent(const Kernel& gemm) {
  const bool several = InfoOf(gemm.kind).dimensions.size() == 4;  // the first counts GEMMs
  const auto* first = gemm.dims.data() + (several ? 1 : 0);
  return *std::min_element(first, first + 3);
}

bool IsLarge(const Kernel& kernel) {
  if (IsMemoryKernel(kernel.kind)) return kernel.bytes > 1e6;
  if (!IsGemm(kernel.kind)) return kernel.flops > 1e9;
  return ShortestExtent(kernel) >= 1024;
}

std::string ShapeString(const Kernel& kernel) {
  const size_t count = IsAttention(kernel.kind) ? 5 : InfoOf(kernel.kind).dimensions.size();
  std::string shape;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) shape += "x";
    shape += fmt::format("{}", kernel.dims[i]);
  }
  if (IsAttention(kernel.kind)) {
    const AttentionShape s = AttentionShapeOf(kernel);
    if (s.kv_sequence != s.sequence) shape += fmt::format(" keys {}", s.kv_sequence);
    if (s.value_dim != s.head_dim) shape += fmt::format(" value {}", s.value_dim);
    if (s.causal) shape += " causal";
  }
  shape += fmt::format(" {}", ToString(kernel.type));
  if (kernel.main_gradient == 2) shape += " into 16 bits";
  if (kernel.promoted) shape += " promoted";
  if (kernel.row_scaled) shape += " scales of rows";
  if (!IsMemoryKernel(kernel.kind)) return shape;
  const int64_t bytes = MilliBytesPerElement(kernel);
  const std::optional<double> usual = UsualBytesPerElement(kernel.kind, kernel.type);
  if (usual.has_value() && std::llround(*usual * 1000) == bytes) return shape;
  return shape + fmt::format(" {} B each", static_cast<double>(bytes) / 1000);
}

Kernel Gemm(DataType type, int64_t m, int64_t n, int64_t k) {
  return GemmOfKind(KernelKind::kGemm, type, m, n, k, ResultBytes(type));
}

Kernel GemmAccumulate(DataType type, int64_t m, int64_t n, int64_t k, int64_t element) {
  CHECK(element == 4 || element == 2);
  Kernel kernel = GemmOfKind(KernelKind::kGemmAccumulate, type, m, n, k,
                             /*read and written=*/2 * static_cast<double>(element));
  kernel.main_gradient = element;
  return kernel;
}

Kernel BatchedGemm(DataType type, int64_t batch, int64_t m, int64_t n, int64_t k) {
  Kernel kernel = Gemm(type, m, n, k);
  kernel.kind = KernelKind::kBatchedGemm;
  kernel.dims = {batch, m, n, k};
  kernel.flops *= static_cast<double>(batch);
  kernel.bytes *= static_cast<double>(batch);
  return kernel;
}

Kernel GroupedGemm(KernelKind kind, DataType type, int64_t groups, int64_t m, int64_t n, int64_t k,
                   int64_t element) {
  CHECK(kind == KernelKind::kGroupedGemm || kind == KernelKind::kGroupedGemmAccumulate);
  Kernel kernel = kind == KernelKind::kGroupedGemm ? Gemm(type, m, n, k)
                                                   : GemmAccumulate(type, m, n, k, element);
  kernel.kind = kind;
  kernel.dims = {groups, m, n, k};
  kernel.flops *= static_cast<double>(groups);
  kernel.bytes *= static_cast<double>(groups);
  return kernel;
}

Kernel Attention(KernelKind kind, DataType type, const AttentionShape& shape) {
  CHECK(IsAttention(kind));
  const bool forward = kind == KernelKind::kAttentionForward;
  Kernel kernel{kind,
                type,
                {shape.batch, shape.sequence, shape.heads, shape.kv_heads, shape.head_dim,
                 shape.causal, shape.kv_sequence > 0 ? shape.kv_sequence : shape.sequence,
                 shape.value_dim > 0 ? shape.value_dim : shape.head_dim}};
  const AttentionShape s = AttentionShapeOf(kernel);
  const double width = static_cast<double>(s.head_dim), value = static_cast<double>(s.value_dim);
  const double seen =
      static_cast<double>(s.kv_sequence) - (s.causal ? 0.5 * static_cast<double>(s.sequence) : 0);
  const double batch = static_cast<double>(s.batch), heads = static_cast<double>(s.heads);
  const double queries = static_cast<double>(s.sequence) * heads;
  const double keys = static_cast<double>(s.kv_sequence) * static_cast<double>(s.kv_heads);
  const double scores = batch * queries * seen;
  kernel.flops = scores * (forward ? 2 * width + 2 * value : 6 * width + 4 * value);
  kernel.bytes =
      batch * (queries + keys) * OperandBytes(type) * (width + value) * (forward ? 1 : 2);
  kernel.launches = forward ? 1 : 3;
  return kernel;
}

AttentionShape AttentionShapeOf(const Kernel& kernel) {
  const auto& d = kernel.dims;
  return {d[0], d[1], d[2], d[3], d[4], d[5] != 0, d[6], d[7]};
}

std::string ContradictionOf(const AttentionShape& s) {
  if (s.kv_heads > s.heads) {
    return fmt::format("has {} heads of keys for {} of queries", s.kv_heads, s.heads);
  }
  if (s.causal && s.kv_sequence > 0 && s.kv_sequence < s.sequence) {
    return fmt::format("is causal with {} queries and only {} keys", s.sequence, s.kv_sequence);
  }
  return "";
}

Kernel ChunkProduct(DataType type, const ChunkProductShape& s) {
  Kernel kernel{
      KernelKind::kChunkProduct, type, {s.batch, s.m, s.n, s.k, s.sharing, s.result_bytes}};
  const auto batch = static_cast<double>(s.batch), m = static_cast<double>(s.m);
  const auto n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const auto element = static_cast<double>(SizeOf(type).count());
  kernel.flops = 2 * batch * Product(m, n, k);
  kernel.bytes = batch * (element * (m * k / static_cast<double>(s.sharing) + k * n) +
                          static_cast<double>(s.result_bytes) * m * n);
  return kernel;
}

Kernel SparseProduct(DataType type, const SparseProductShape& s) {
  Kernel kernel{KernelKind::kSparseProduct,
                type,
                {s.rows, s.heads, s.keys, s.width, s.key_bytes, s.row_bytes, s.gathered ? 1 : 0}};
  const auto rows = static_cast<double>(s.rows), heads = static_cast<double>(s.heads);
  kernel.flops = 2 * rows * heads * static_cast<double>(s.keys) * static_cast<double>(s.width);
  kernel.bytes = rows * static_cast<double>(s.row_bytes);
  return kernel;
}

Kernel MemoryKernel(KernelKind kind, DataType type, int64_t rows, int64_t columns,
                    double bytes_per_element) {
  CHECK(IsMemoryKernel(kind));
  Kernel kernel{kind, type, {rows, columns}};
  kernel.bytes = static_cast<double>(rows) * static_cast<double>(columns) * bytes_per_element;
  return kernel;
}

namespace {

Kernel ResizedGroups(const Kernel& like, DataType type,
                     const std::array<int64_t, kMaxKernelDims>& d) {
  const bool accumulates = like.kind == KernelKind::kGroupedGemmAccumulate;
  Kernel kernel = GroupedGemm(like.kind, type, d[0], d[1], d[2], d[3],
                              accumulates ? like.main_gradient : kMeasuredMainGradient);
  if (like.looped > 0) kernel.looped = static_cast<int>(d[0]) - 1;
  return kernel;
}

}  // namespace

Kernel Resized(const Kernel& like, DataType type, const std::array<int64_t, kMaxKernelDims>& d) {
  switch (like.kind) {
    case KernelKind::kGemm:
      return Gemm(type, d[0], d[1], d[2]);
    case KernelKind::kGemmAccumulate:
      return GemmAccumulate(type, d[0], d[1], d[2], like.main_gradient);
    case KernelKind::kBatchedGemm:
      return BatchedGemm(type, d[0], d[1], d[2], d[3]);
    case KernelKind::kAttentionForward:
    case KernelKind::kAttentionBackward:
      return Attention(like.kind, type, {d[0], d[1], d[2], d[3], d[4], d[5] != 0, d[6], d[7]});
    case KernelKind::kGroupedGemm:
    case KernelKind::kGroupedGemmAccumulate:
      return ResizedGroups(like, type, d);
    case KernelKind::kChunkProduct:
      return ChunkProduct(type, {d[0], d[1], d[2], d[3], d[4], d[5]});
    case KernelKind::kSparseProduct:
      return SparseProduct(type, {d[0], d[1], d[2], d[3], d[4], d[5], d[6] != 0});
    default:
      break;
  }
  const double elements = static_cast<double>(like.dims[0]) * static_cast<double>(like.dims[1]);
  return MemoryKernel(like.kind, type, d[0], d[1], like.bytes / elements);
}

}  // namespace drydock
