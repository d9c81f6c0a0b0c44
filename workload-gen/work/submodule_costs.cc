#include "workload-gen/work/submodule_costs.h"

#include "core/base/check.h"
#include "core/model/attention_extents.h"

namespace drydock {
namespace {

struct Costs {
  double flops = 0;
  int64_t bytes = 0;
};

// `weights`: matrices that share the rows.
Costs Linear(const Submodule& s, int64_t e, int64_t weights = 1) {
  const int64_t input = s.rows * s.k, weight = weights * s.n * s.k, output = s.rows * s.n;
  const double flops =
      2.0 * static_cast<double>(s.rows) * static_cast<double>(s.n) * static_cast<double>(s.k);
  if (s.pass != Pass::kBackwardWeight) return {flops, e * (input + weight + output)};
  // Accumulating reads and writes the gradient.
  const int64_t each = s.accumulate_fp32 ? 8 : s.accumulate_half ? 4 : e;
  return {flops, e * (input + output) + each * weight};
}

// Scores, softmax, dropout and the product with the values pass through memory unless fused.
int64_t ScoreBytes(const Submodule& s, int64_t e, bool backward) {
  if (s.fused) return 0;
  const int64_t scores = s.batch * s.heads * s.sequence * KeysOf(s);
  const int64_t forward = scores * (4 * e + (s.dropout ? 2 * e + 1 : 0));
  return backward ? forward + scores * 2 * e : forward;
}

Costs Attention(const Submodule& s, int64_t e) {
  const bool backward = s.pass != Pass::kForward;
  const int64_t keys = KeysOf(s);
  // A fused kernel leaves out half of the square that the causal mask cuts.
  const double seen =
      static_cast<double>(keys) - (s.causal && s.fused ? 0.5 * static_cast<double>(s.sequence) : 0);
  const double scores = static_cast<double>(s.batch * s.heads * s.sequence) * seen;
  const auto width = static_cast<double>(s.head_dim);
  const auto value = static_cast<double>(ValueDimOf(s));
  double flops = scores * 2 * (width + value);
  // Backward: two products of the scores' and two of the values' width; the fused one makes the
  // scores once more.
  if (backward) flops = scores * (2 * (2 * width + 2 * value) + (s.fused ? 2 * width : 0));
  const int64_t tensors =
      s.batch * (s.sequence * s.heads + keys * s.kv_heads) * (s.head_dim + ValueDimOf(s));
  return {flops, e * tensors * (backward ? 2 : 1) + ScoreBytes(s, e, backward)};
}

// An element-wise kernel that moves `bytes_each` bytes an element.
Costs ElementWise(int64_t elements, int64_t operands, int64_t bytes) {
  return {static_cast<double>(elements * operands), elements * bytes};
}

Costs Activation(const Submodule& s, int64_t e) {
  const int64_t inputs = s.gated ? 2 : 1;
  const int64_t operands = s.pass == Pass::kForward ? inputs + 1 : 2 * inputs + 1;
  return ElementWise(s.rows * s.n, operands, operands * e);
}

Costs BiasDropoutAdd(const Submodule& s, int64_t e) {
  // Forward: branch, residual, result; backward: incoming and outgoing gradient. A mask byte each.
  const int64_t operands = s.pass == Pass::kForward ? 3 : 2;
  return ElementWise(s.rows * s.n, operands, operands * e + (s.dropout ? 1 : 0));
}

Costs Twice(const Costs& costs) { return {2 * costs.flops, 2 * costs.bytes}; }

Costs CostsOf(const Submodule& s) {
  const int64_t e = SizeOf(s.type).count();
  const int64_t grid = s.rows * s.n;
  const bool forward = s.pass == Pass::kForward;
  const bool both = s.pass == Pass::kBackward;  // of the input and of the weights
  switch (s.kind) {
    case SubmoduleKind::kLinear:
      return Linear(s, e);
    case SubmoduleKind::kAttention:
      return Attention(s, e);
    case SubmoduleKind::kNorm:
      return ElementWise(grid, forward ? 2 : 3, (forward ? 2 : 3) * e);
    case SubmoduleKind::kBiasDropoutAdd:
      return BiasDropoutAdd(s, e);
    case SubmoduleKind::kActivation:
      return Activation(s, e);
    case SubmoduleKind::kRotary:
      return ElementWise(grid, 2, 2 * e);
    case SubmoduleKind::kEmbedding:
      // Backward adds into the table's gradient.
      return ElementWise(grid, 2, forward ? 2 * e : e + (s.accumulate_fp32 ? 8 : 2 * e));
    case SubmoduleKind::kCrossEntropy:
      return ElementWise(grid, 2, e + 4);  // logits, fp32 softmax
    case SubmoduleKind::kOptimizer:
      return ElementWise(s.elements, 7, 28);
    case SubmoduleKind::kGradientScale:
      return ElementWise(s.elements, 2, 2 * e);
    case SubmoduleKind::kGradientNorm:
      return ElementWise(s.elements, 1, e);
    case SubmoduleKind::kCast:
      return ElementWise(s.elements, 2, 4 + e);
    case SubmoduleKind::kAdd:
      if (s.top_k > 0) return ElementWise(grid, s.top_k + 1, (s.top_k + 1) * e);
      return ElementWise(grid, 3, s.accumulate_fp32 ? e + 8 : 3 * e);
    case SubmoduleKind::kRouter:
      return both ? Twice(Linear(s, e)) : Linear(s, e);
    case SubmoduleKind::kGroupedLinear:
      return both ? Twice(Linear(s, e, s.experts)) : Linear(s, e, s.experts);
    case SubmoduleKind::kTopK:
      return ElementWise(grid, 1, e);
    case SubmoduleKind::kPermute:
    case SubmoduleKind::kUnpermute:
      return ElementWise(grid, 1 + s.top_k, (1 + s.top_k) * e);
    case SubmoduleKind::kQuantise:
      return ElementWise(grid, 1, s.unturned ? 3 : 4);
    case SubmoduleKind::kGiven:  // an imported workload says what it says
    case SubmoduleKind::kCounted:
      return {s.flops, s.bytes.count()};
  }
  CHECK(false);
}

}  // namespace

void FillCosts(Submodule* submodule) {
  const Costs costs = CostsOf(*submodule);
  submodule->flops = costs.flops;
  submodule->bytes = Bytes(costs.bytes);
}

}  // namespace drydock
