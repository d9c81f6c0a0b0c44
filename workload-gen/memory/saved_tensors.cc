#include "workload-gen/memory/saved_tensors.h"

#include <algorithm>
#include <cmath>

namespace drydock {
namespace {

// Computes the tensors by kind of submodule. A kind whose inputs another submodule also saves adds
// no inputs.
class SavingRules {
 public:
  SavingRules(double e, LossTensors loss) : e_(e), loss_(loss) {}

  SavedTensors operator()(const submodule::Linear& s) const {
    return {.inputs = Elements(s.rows * s.k), .internal = {}, .outputs = Grid(s)};
  }
  // With the activation, what the activation reads as well, in 16 bits.
  SavedTensors operator()(const submodule::GroupedLinear& s) const {
    return {.inputs = Elements(s.rows * s.k),
            .internal = Bytes(s.fused ? 2 * s.rows * s.n : 0),
            .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::Attention& s) const {
    SavedTensors saved;
    // A window's queries see fewer keys than there are.
    const int64_t keys = std::max(s.keys(), s.sequence);
    saved.inputs = Elements(s.batch * (s.sequence * s.heads * s.head_dim +
                                       keys * s.kv_heads * (s.head_dim + s.value_width())));
    saved.outputs = Elements(s.batch * s.sequence * s.heads * s.value_width());
    // The log-sum-exp of each row of scores, in fp32.
    saved.internal = Bytes(4 * s.batch * s.heads * s.sequence);
    if (s.fused) return saved;
    // Probabilities; with dropout also the probabilities after it, and a mask of one byte each. A
    // softmax of PyTorch's keeps its result in fp32 beside a cast one, and the causal mask.
    const int64_t scores = s.batch * s.heads * s.sequence * s.keys();
    saved.internal = Elements(scores * (s.dropout ? 2 : 1)) + Bytes(s.dropout ? scores : 0) +
                     Bytes(s.composes_softmax() ? 4 * scores + s.sequence * s.keys() : 0);
    return saved;
  }
  SavedTensors operator()(const submodule::Norm& s) const {
    return {.inputs = Grid(s), .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::Activation& s) const {
    // What it reads has 16 bits, also where it writes fp8.
    const Bytes input = s.fp8_input   ? Bytes(s.rows * s.n)
                        : s.quantizes ? Bytes(2 * s.rows * s.n)
                                      : Grid(s);
    // A clamp keeps its own input, too.
    const int copies = (s.gated ? 2 : 1) * (s.clamped ? 2 : 1);
    return {.inputs = input * copies, .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::BiasDropoutAdd& s) const {
    return {.inputs = {}, .internal = Bytes(s.dropout ? s.rows * s.n : 0), .outputs = Grid(s)};
  }
  // Keeps scores and their softmax in fp32.
  SavedTensors operator()(const submodule::Router& s) const {
    return {
        .inputs = Elements(s.rows * s.k), .internal = Bytes(s.rows * s.n * 4), .outputs = Grid(s)};
  }
  // One autograd function: keeps its input and the scan's output, before the gated norm.
  SavedTensors operator()(const submodule::StateSpace& s) const {
    return {.inputs = Bytes(s.rows * (s.inner() + s.convolved() + s.heads) * e_),
            .internal = Bytes(s.rows * s.inner() * e_),
            .outputs = Bytes(s.rows * s.inner() * e_)};
  }
  // Keeps what the convolution reads and writes, the decays in fp32, the inverse of each chunk, and
  // what the gated norm reads.
  SavedTensors operator()(const submodule::DeltaRule& s) const {
    const int64_t values = s.rows * s.values();
    return {.inputs = Bytes(s.rows * (s.convolved() + s.values()) * e_),
            .internal = Bytes((s.rows * (s.convolved() + s.heads * s.chunk) + values) * e_ +
                              2 * 4 * s.rows * s.heads),
            .outputs = Bytes(values * e_)};
  }
  // Queries, keys and weights of heads, or of cuDNN their gradients; the positions of the picks
  // have 8 bytes, or 4 of a fused kernel. cuDNN's function saves them once, with attention.
  SavedTensors operator()(const submodule::SparseIndex& s) const {
    const int64_t pick = s.tilelang ? 4 : s.fused ? 0 : 8;
    return {.inputs = Elements(s.rows * s.heads * (s.head_dim + 1) + s.all_keys() * s.head_dim),
            .internal = Bytes(s.rows * s.most_picked() * pick),
            .outputs = {}};
  }
  // Attention saves its queries and keys as well.
  SavedTensors operator()(const submodule::SparseTarget&) const { return {}; }
  // Fused, the positions of the picks, of TileLang again, and a sum for each row of scores; the
  // next product saves the output. Unfused, queries and keys in fp32, and the probabilities in fp32
  // and in the type.
  SavedTensors operator()(const submodule::SparseAttention& s) const {
    const int64_t queries = s.rows * s.heads * s.head_dim;
    SavedTensors saved;
    saved.inputs = Elements(queries + s.all_keys() * s.head_dim);
    saved.outputs = Elements(s.rows * s.heads * s.value_dim);
    if (s.fused) {
      saved.internal = Bytes(4 * s.rows * (s.most_picked() + s.heads));
      return saved;
    }
    const int64_t scores = s.rows * s.heads * s.keys;
    saved.internal = Bytes(4 * (queries + s.all_keys() * s.head_dim + scores)) + Elements(scores);
    return saved;
  }
  // Keeps the token numbers.
  SavedTensors operator()(const submodule::Embedding& s) const {
    return {.inputs = Bytes(s.rows * 8), .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::CrossEntropy& s) const {
    const bool logits = loss_ == LossTensors::kGradientInPlace || loss_ == LossTensors::kCompiled;
    return {
        .inputs = {}, .internal = logits ? Grid(s) : Bytes(s.rows * s.n * 4), .outputs = Grid(s)};
  }
  template <typename Kind>
  SavedTensors operator()(const Kind& s) const {
    if constexpr (requires { s.rows* s.n; })
      return {.inputs = {}, .internal = {}, .outputs = Grid(s)};
    else
      return {};
  }

 private:
  template <typename Kind>
  Bytes Grid(const Kind& s) const {
    return Elements(s.rows * s.n);
  }
  Bytes Elements(int64_t count) const {
    return Bytes(std::llround(static_cast<double>(count) * e_));
  }

  const double e_;  // bytes of an element
  const LossTensors loss_;
};

}  // namespace

SavedTensors SavedBy(const Submodule& forward, LossTensors loss) {
  return std::visit(SavingRules(OperandBytes(forward.type), loss), forward.work);
}

}  // namespace drydock
