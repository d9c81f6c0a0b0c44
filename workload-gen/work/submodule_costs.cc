#include "workload-gen/work/submodule_costs.h"

#include <cmath>

#include "core/base/check.h"

namespace drydock {
namespace {

struct Costs {
  double flops = 0;
  int64_t bytes = 0;
};

Costs Twice(const Costs& costs) { return {2 * costs.flops, 2 * costs.bytes}; }

int64_t Whole(double bytes) { return std::llround(bytes); }

// An element-wise kernel that reads and writes `operands` operands, `bytes` bytes an element.
Costs ElementWise(int64_t elements, int64_t operands, double bytes) {
  return {static_cast<double>(elements * operands), Whole(static_cast<double>(elements) * bytes)};
}

class CostRules {
 public:
  explicit CostRules(const Submodule& submodule)
      : pass_(submodule.pass), e_(OperandBytes(submodule.type)) {}

  Costs operator()(const submodule::Linear& s) const {
    return GemmCosts(s, 1, s.accumulate_fp32 ? 8 : s.accumulate_half ? 4 : e_);
  }
  Costs operator()(const submodule::GroupedLinear& s) const {
    const Costs costs = GemmCosts(s, s.experts, s.accumulate_fp32 ? 8 : s.accumulate_half ? 4 : e_);
    return both() ? Twice(costs) : costs;
  }
  Costs operator()(const submodule::Router& s) const {
    const Costs costs = GemmCosts(s, 1, s.accumulate_fp32 ? 8 : e_);
    return both() ? Twice(costs) : costs;
  }

  Costs operator()(const submodule::Attention& s) const {
    const bool backward = !forward();
    // A fused kernel skips the half of the square that the causal mask cuts off.
    const double seen = static_cast<double>(s.keys()) -
                        (s.causal && s.fused ? 0.5 * static_cast<double>(s.sequence) : 0);
    const double scores = static_cast<double>(s.batch * s.heads * s.sequence) * seen;
    const auto width = static_cast<double>(s.head_dim);
    const auto value = static_cast<double>(s.value_width());
    double flops = scores * 2 * (width + value);
    // Backward: two GEMMs of the width of keys and two of the width of values; the fused kernel
    // computes the scores again.
    if (backward) flops = scores * (2 * (2 * width + 2 * value) + (s.fused ? 2 * width : 0));
    const int64_t tensors =
        s.batch * (s.sequence * s.heads + s.keys() * s.kv_heads) * (s.head_dim + s.value_width());
    return {flops, Whole(e_ * static_cast<double>(tensors) * (backward ? 2 : 1)) + ScoreBytes(s)};
  }

  Costs operator()(const submodule::Norm& s) const {
    const int64_t operands = forward() ? 2 : 3;
    return ElementWise(s.rows * s.n, operands, static_cast<double>(operands) * e_);
  }
  // Forward: branch, residual, result; backward: incoming and outgoing gradient. The mask has one
  // byte an element.
  Costs operator()(const submodule::BiasDropoutAdd& s) const {
    const int64_t operands = forward() ? 3 : 2;
    return ElementWise(s.rows * s.n, operands,
                       static_cast<double>(operands) * e_ + (s.dropout ? 1 : 0));
  }
  Costs operator()(const submodule::Activation& s) const {
    const int64_t inputs = s.gated ? 2 : 1;
    const int64_t read = forward() ? inputs : inputs + 1, written = forward() ? 1 : inputs;
    const double e = s.quantizes ? 2 : e_;  // of what it reads
    return ElementWise(s.rows * s.n, read + written,
                       static_cast<double>(read) * e + static_cast<double>(written) * e_);
  }
  Costs operator()(const submodule::Rotary& s) const {
    return ElementWise(s.rows * s.n, 2, 2 * e_);
  }
  // Backward adds into the gradient of the table.
  Costs operator()(const submodule::Embedding& s) const {
    return ElementWise(s.rows * s.n, 2, forward() ? 2 * e_ : e_ + (s.accumulate_fp32 ? 8 : 2 * e_));
  }
  // Logits, and their softmax in fp32.
  Costs operator()(const submodule::CrossEntropy& s) const {
    return ElementWise(s.rows * s.n, 2, e_ + 4);
  }
  // Reads gradient, weight and two moments in fp32; writes the last three.
  Costs operator()(const submodule::Optimizer& s) const { return ElementWise(s.elements, 7, 28); }
  Costs operator()(const submodule::GradientScale& s) const {
    return ElementWise(s.elements, 2, 2 * e_);
  }
  Costs operator()(const submodule::GradientNorm& s) const {
    return ElementWise(s.elements, 1, e_);
  }
  Costs operator()(const submodule::ZeroCount& s) const { return ElementWise(s.elements, 1, e_); }
  Costs operator()(const submodule::Cast& s) const { return ElementWise(s.elements, 2, 4 + e_); }
  Costs operator()(const submodule::Add& s) const {
    const int64_t elements = s.rows * s.n;
    if (s.summands > 0)
      return ElementWise(elements, s.summands + 1, static_cast<double>(s.summands + 1) * e_);
    return ElementWise(elements, 3, s.accumulate_fp32 ? e_ + 8 : 3 * e_);
  }
  Costs operator()(const submodule::TopK& s) const { return ElementWise(s.rows * s.n, 1, e_); }
  Costs operator()(const submodule::Permute& s) const { return Move(s); }
  Costs operator()(const submodule::Unpermute& s) const { return Move(s); }
  Costs operator()(const submodule::Quantize& s) const {
    const double written = e_ < 2 ? e_ : 1;  // of a 16-bit type: fp8
    return ElementWise(s.rows * s.n, 1, 2 + (s.without_transpose ? 1 : 2) * written);
  }
  // Products of every head with its states and with the earlier tokens of the chunk, and of every
  // group. Backward computes the scores and the states again.
  Costs operator()(const submodule::StateSpace& s) const {
    const auto rows = static_cast<double>(s.rows);
    const auto half = static_cast<double>((s.chunk + 1) / 2);
    const auto state = static_cast<double>(s.state), inner = static_cast<double>(s.inner());
    const double scores = rows * 4 * half * static_cast<double>(s.groups) * state;
    const double states = rows * 2 * inner * state, chunks = rows * 2 * inner * half;
    const int64_t moved = s.rows * (2 * s.inner() + s.convolved() + s.heads);
    if (forward()) return {scores + 2 * states + chunks, e_ * moved};
    return {2 * scores + 5 * states + 3 * chunks, 2 * e_ * moved};
  }
  // As above, with the inverse of each chunk and the corrected keys and values.
  Costs operator()(const submodule::DeltaRule& s) const {
    const auto rows = static_cast<double>(s.rows), chunk = static_cast<double>(s.chunk);
    const auto heads = static_cast<double>(s.heads);
    const auto key = static_cast<double>(s.head_dim), value = static_cast<double>(s.value_dim);
    const double once = rows * heads * (chunk * (5 * key + 3 * value + chunk) + 6 * key * value);
    const int64_t moved = s.rows * (s.convolved() + 2 * s.values());
    return {forward() ? once : 3 * once, (forward() ? 1 : 2) * e_ * moved};
  }
  // The products alone; unfused, of the whole square. A fused kernel's scores of all keys reach
  // memory once, unfused ones several times.
  Costs operator()(const submodule::SparseIndex& s) const {
    const bool by_heads = forward() && s.by_heads;
    const double keys =
        by_heads ? static_cast<double>(s.keys) : KeysOf(s, forward() || !s.picked_only);
    const double width = 2 * static_cast<double>(s.heads * s.head_dim);
    const auto rows = static_cast<double>(s.rows), all = static_cast<double>(s.keys);
    const double once = s.fused && !by_heads
                            ? 4 * rows * all
                            : (by_heads ? 8 : 6) * 4 * rows * all * static_cast<double>(s.heads);
    const double moved = e_ * (rows * width / 2 + static_cast<double>(s.all_keys() * s.head_dim));
    return {(forward() ? 1 : 3) * rows * keys * width, Whole((forward() ? 1 : 2) * moved + once)};
  }
  Costs operator()(const submodule::SparseTarget& s) const {
    const double keys = KeysOf(s, !s.picked_only);
    const auto rows = static_cast<double>(s.rows), all = static_cast<double>(s.keys);
    const auto width = static_cast<double>(s.heads * s.head_dim);
    const double scores =
        s.fused ? 4 * rows * keys : 6 * 4 * rows * all * static_cast<double>(s.heads);
    return {2 * rows * keys * width, Whole(e_ * rows * width + scores)};
  }
  // Backward: five products, of which three have the width of keys.
  Costs operator()(const submodule::SparseAttention& s) const {
    const double scores = static_cast<double>(s.rows * s.heads) * KeysOf(s, /*all=*/false);
    const auto key = static_cast<double>(s.head_dim), value = static_cast<double>(s.value_dim);
    const double flops = scores * 2 * (forward() ? key + value : 3 * key + 2 * value);
    const double queries = static_cast<double>(s.rows * s.heads) * (key + value);
    const double unfused = s.fused ? 0 : 5 * 4 * scores;
    return {flops,
            Whole((forward() ? 1 : 2) * e_ * (queries + static_cast<double>(s.all_keys()) * key) +
                  unfused)};
  }
  // The workload states the costs of these kinds.
  Costs operator()(const submodule::FixedDuration&) const { CHECK(false); }
  Costs operator()(const submodule::FlopsAndBytes&) const { CHECK(false); }

 private:
  bool forward() const { return pass_ == Pass::kForward; }
  bool both() const { return pass_ == Pass::kBackward; }  // gradients of the input and the weights

  // `weights`: matrices that share the rows. `gradient_bytes`: of an element of a weight's
  // gradient; an accumulating GEMM reads and writes the main gradient.
  template <typename Kind>
  Costs GemmCosts(const Kind& s, int64_t weights, double gradient_bytes) const {
    const int64_t input = s.rows * s.k, weight = weights * s.n * s.k, output = s.rows * s.n;
    const double flops =
        2.0 * static_cast<double>(s.rows) * static_cast<double>(s.n) * static_cast<double>(s.k);
    const double each = pass_ == Pass::kBackwardWeight ? gradient_bytes : e_;
    return {flops,
            Whole(e_ * static_cast<double>(input + output) + each * static_cast<double>(weight))};
  }

  // The keys whose products a query needs: all keys where PyTorch masks them.
  static double KeysOf(const submodule::SparseWork& s, bool all) {
    if (!s.fused) return static_cast<double>(s.keys);
    return all ? s.seen() : s.picked();
  }

  Costs Move(const submodule::TokenMove& s) const {
    return ElementWise(s.rows * s.n, 1 + s.top_k, static_cast<double>(1 + s.top_k) * e_);
  }

  // Unless attention is fused, scores, softmax, dropout and the GEMM with the values pass through
  // memory.
  int64_t ScoreBytes(const submodule::Attention& s) const {
    if (s.fused) return 0;
    const int64_t scores = s.batch * s.heads * s.sequence * s.keys();
    const double each = 4 * e_ + (s.dropout ? 2 * e_ + 1 : 0) + (forward() ? 0 : 2 * e_);
    return Whole(static_cast<double>(scores) * each);
  }

  const Pass pass_;
  const double e_;  // bytes of an element
};

}  // namespace

void FillCosts(Submodule* submodule) {
  const Costs costs = std::visit(CostRules(*submodule), submodule->work);
  submodule->flops = costs.flops;
  submodule->bytes = Bytes(costs.bytes);
}

}  // namespace drydock
