#include "workload-gen/memory/saved_tensors.h"

namespace drydock {
namespace {

// Computes the tensors by kind of submodule. A kind whose inputs another submodule also saves adds
// no inputs.
class SavingRules {
 public:
  explicit SavingRules(int64_t e) : e_(e) {}

  SavedTensors operator()(const submodule::Linear& s) const {
    return {.inputs = Bytes(s.rows * s.k * e_), .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::GroupedLinear& s) const {
    return {.inputs = Bytes(s.rows * s.k * e_), .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::Attention& s) const {
    SavedTensors saved;
    saved.inputs = Bytes(e_ * s.batch *
                         (s.sequence * s.heads * s.head_dim +
                          s.keys() * s.kv_heads * (s.head_dim + s.value_width())));
    saved.outputs = Bytes(e_ * s.batch * s.sequence * s.heads * s.value_width());
    if (s.fused) return saved;
    // Probabilities; with dropout also the probabilities after it, and a mask of one byte each.
    const int64_t scores = s.batch * s.heads * s.sequence * s.keys();
    saved.internal = Bytes(scores * (s.dropout ? 2 * e_ + 1 : e_));
    return saved;
  }
  SavedTensors operator()(const submodule::Norm& s) const {
    return {.inputs = Grid(s), .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::Activation& s) const {
    return {.inputs = Grid(s) * (s.gated ? 2 : 1), .internal = {}, .outputs = Grid(s)};
  }
  SavedTensors operator()(const submodule::BiasDropoutAdd& s) const {
    return {.inputs = {}, .internal = Bytes(s.dropout ? s.rows * s.n : 0), .outputs = Grid(s)};
  }
  // Keeps scores and their softmax in fp32.
  SavedTensors operator()(const submodule::Router& s) const {
    return {.inputs = Bytes(s.rows * s.k * e_),
            .internal = Bytes(s.rows * s.n * 4),
            .outputs = Grid(s)};
  }
  // Keeps the results that are weighted.
  SavedTensors operator()(const submodule::Unpermute& s) const {
    return {.inputs = Grid(s) * s.top_k, .internal = {}, .outputs = Grid(s)};
  }
  // Keeps the token numbers.
  SavedTensors operator()(const submodule::Embedding& s) const {
    return {.inputs = Bytes(s.rows * 8), .internal = {}, .outputs = Grid(s)};
  }
  // Keeps the softmax in fp32.
  SavedTensors operator()(const submodule::CrossEntropy& s) const {
    return {.inputs = {}, .internal = Bytes(s.rows * s.n * 4), .outputs = Grid(s)};
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
    return Bytes(s.rows * s.n * e_);
  }

  const int64_t e_;  // bytes of an element
};

}  // namespace

SavedTensors SavedBy(const Submodule& forward) {
  return std::visit(SavingRules(SizeOf(forward.type).count()), forward.work);
}

}  // namespace drydock
