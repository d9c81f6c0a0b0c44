#include "compute-sim/measure/attention_graph.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

using P = CudnnPointwise;
constexpr CudnnType kFloat = CudnnType::kFloat, kInt = CudnnType::kInt32;

// The extents of one kernel, and the tensors that both passes use.
class Builder {
 public:
  Builder(const Kernel& kernel, CudnnGraph* graph)
      : s_(AttentionShapeOf(kernel)),
        type_(kernel.type == DataType::kBf16 ? CudnnType::kBfloat16 : CudnnType::kHalf),
        graph_(*graph),
        scores_{s_.batch, s_.heads, s_.sequence, s_.kv_sequence},
        rows_{s_.batch, s_.heads, s_.sequence, 1} {}

  // Softmax as maximum, exponentials and their sum; the backward pass needs the maximum and the
  // logarithm of the sum.
  void Forward() {
    const CudnnTensor q = Queries(s_.head_dim), k = KeysAcross(s_.head_dim);
    const CudnnTensor v = Keys(s_.value_dim), o = Queries(s_.value_dim);
    const CudnnTensor scores = Masked(Scaled(Scores(q, k), kFloat));
    const CudnnTensor most = Row(CudnnReduction::kMaximum, scores);
    const CudnnTensor powers = Apply({P::kExp, Apply({P::kSubtract, scores, most})});
    const CudnnTensor sum = Row(CudnnReduction::kSum, powers);
    graph_.Apply({P::kAdd, most, Apply({P::kLog, sum})}, RowsInMemory());
    const CudnnTensor shares =
        graph_.Apply({P::kDivide, powers, sum}, graph_.Inside(scores_, type_));
    graph_.Multiply(shares, v, o);
  }

  void Backward() {
    const CudnnTensor q = Queries(s_.head_dim), k = KeysAcross(s_.head_dim);
    const CudnnTensor v = KeysAcross(s_.value_dim), o = Queries(s_.value_dim);
    const CudnnTensor d_o = Queries(s_.value_dim), kept = RowsInMemory();
    const CudnnTensor inner =
        graph_.Apply({P::kMultiply, Row(CudnnReduction::kSum, Apply({P::kMultiply, d_o, o})),
                      graph_.Number(1.0f)},
                     RowsInMemory());
    const CudnnTensor scores = Scaled(Scores(q, k), kFloat);
    const CudnnTensor shares = Apply({P::kExp, Masked(Apply({P::kSubtract, scores, kept}))});
    ForKeys(graph_.Transpose(shares, type_), d_o, s_.value_dim);
    const CudnnTensor d_shares = Apply({P::kSubtract, Scores(d_o, v), inner});
    const CudnnTensor d_scores = Scaled(Apply({P::kMultiply, d_shares, shares}), type_);
    ForKeys(graph_.Transpose(d_scores, type_), q, s_.head_dim);
    // Blocks of keys add to the same queries in 32 bits; one conversion to 16 bits follows.
    const CudnnDims wide = {s_.batch, s_.heads, s_.sequence, s_.head_dim};
    const CudnnTensor sums = graph_.Multiply(d_scores, graph_.Transpose(k, type_),
                                             graph_.Operand(wide, CudnnPacked(wide), kFloat));
    graph_.Apply({P::kIdentity, sums}, Queries(s_.head_dim));
  }

 private:
  CudnnTensor InMemory(int64_t heads, int64_t sequence, int64_t width) {
    return graph_.Operand({s_.batch, heads, sequence, width},
                          {sequence * heads * width, width, heads * width, 1}, type_);
  }
  CudnnTensor Queries(int64_t width) { return InMemory(s_.heads, s_.sequence, width); }
  CudnnTensor Keys(int64_t width) { return InMemory(s_.kv_heads, s_.kv_sequence, width); }
  // The keys of the same memory, transposed: a GEMM needs them in its columns.
  CudnnTensor KeysAcross(int64_t width) {
    const int64_t heads = s_.kv_heads, sequence = s_.kv_sequence;
    return graph_.Operand({s_.batch, heads, width, sequence},
                          {sequence * heads * width, width, 1, heads * width}, type_);
  }
  CudnnTensor RowsInMemory() { return graph_.Operand(rows_, CudnnPacked(rows_), kFloat); }

  CudnnTensor Apply(const CudnnElementwise& operation) {
    return graph_.Apply(operation, graph_.Inside(operation.x.dims, kFloat));
  }
  CudnnTensor Row(CudnnReduction how, const CudnnTensor& x) {
    return graph_.Reduce(how, x, graph_.Inside(rows_, kFloat));
  }
  CudnnTensor Scores(const CudnnTensor& a, const CudnnTensor& b) {
    return graph_.Multiply(a, b, graph_.Inside(scores_, kFloat));
  }
  CudnnTensor Scaled(const CudnnTensor& x, CudnnType type) {
    const float scale = 1 / std::sqrt(static_cast<float>(s_.head_dim));
    return graph_.Apply({P::kMultiply, x, graph_.Number(scale)}, graph_.Inside(x.dims, type));
  }

  CudnnTensor Index(const CudnnTensor& x, int64_t axis) {
    return graph_.Apply({.mode = P::kIndex, .x = x, .axis = axis}, graph_.Inside(x.dims, kInt));
  }
  CudnnTensor Shifted(P mode, const CudnnTensor& index, int64_t by) {
    return graph_.Apply(
        {.mode = mode, .x = index, .b = graph_.Number(static_cast<int32_t>(by)), .computes = kInt},
        graph_.Inside(index.dims, kInt));
  }
  // The last query sees every key; each query before it sees one less.
  CudnnTensor Masked(const CudnnTensor& x) {
    if (!s_.causal) return x;
    CudnnTensor row = Index(x, 2);
    const CudnnTensor column = Index(x, 3);
    if (s_.sequence != s_.kv_sequence) {
      row = Shifted(P::kSubtract, Shifted(P::kAdd, row, s_.kv_sequence), s_.sequence);
    }
    const CudnnTensor seen = graph_.Apply(
        {.mode = P::kGreaterEqual, .x = row, .b = column, .computes = CudnnType::kBool},
        graph_.Inside(x.dims, CudnnType::kBool));
    const float never = -std::numeric_limits<float>::infinity();
    return Apply({P::kSelect, x, graph_.Number(never), seen});
  }

  // Computes a gradient of keys or values and sums it over the query heads that share them.
  void ForKeys(const CudnnTensor& across, const CudnnTensor& with, int64_t width) {
    const CudnnTensor out = Keys(width);
    if (s_.heads == s_.kv_heads) {
      graph_.Multiply(across, with, out);
      return;
    }
    const CudnnTensor each = graph_.Multiply(
        across, with, graph_.Inside({s_.batch, s_.heads, s_.kv_sequence, width}, type_));
    graph_.Reduce(CudnnReduction::kSum, each, out);
  }

  const AttentionShape s_;
  const CudnnType type_;
  CudnnGraph& graph_;
  const CudnnDims scores_, rows_;
};

}  // namespace

void BuildAttention(const Kernel& kernel, CudnnGraph* graph) {
  CHECK(IsAttention(kernel.kind));
  Builder builder(kernel, graph);
  if (kernel.kind == KernelKind::kAttentionForward)
    builder.Forward();
  else
    builder.Backward();
}

}  // namespace drydock
