#include "workload-gen/work/submodule_maker.h"

#include <algorithm>

#include "workload-gen/work/submodule_costs.h"

namespace drydock {

SubmoduleMaker::SubmoduleMaker(const TrainingJob& job, const ParallelLayout& layout,
                               WorkTables* tables)
    : job_(job), layout_(layout), tables_(tables) {
  rows_ = job.model.sequence / layout.context * job.training.batch.micro;
  local_rows_ = layout.sequence_parallel ? rows_ / layout.tensor : rows_;
}

Submodule SubmoduleMaker::Base(const std::string& name, SubmoduleKind kind, int64_t rows,
                               int64_t n) const {
  Submodule s;
  s.name = name;
  s.kind = kind;
  s.type = job_.training.precision.type;
  s.rows = rows;
  s.n = n;
  return s;
}

uint32_t SubmoduleMaker::Add(Submodule s, Pass pass) {
  s.pass = pass;
  if (pass == Pass::kForward) s.fp8_gradient = false;
  if (pass == Pass::kBackwardActivation) s.fp8_input = false;
  FillCosts(&s);
  return tables_->Intern(s);
}

TwoWayWork SubmoduleMaker::BothWays(const Submodule& s) {
  return {Add(s, Pass::kForward), Add(s, Pass::kBackward)};
}

LinearWork SubmoduleMaker::Products(Submodule s) {
  LinearWork linear;
  linear.gathered = job_.training.precision.type;
  linear.forward = Add(s, Pass::kForward);
  linear.activation_gradient = Add(s, Pass::kBackwardActivation);
  const bool fp32 = job_.training.precision.gradients == DataType::kFp32;
  s.accumulate_fp32 = fp32 && job_.training.kernels.gradient_accumulation_fusion;
  s.accumulate_half = !fp32 && job_.training.kernels.gradient_accumulation_fusion;
  linear.weight_gradient = Add(s, Pass::kBackwardWeight);
  if (!job_.training.kernels.gradient_accumulation_fusion) linear.accumulate = Accumulation(s);
  return linear;
}

Submodule SubmoduleMaker::LinearOf(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                   bool bias) const {
  Submodule s = Base(name, SubmoduleKind::kLinear, rows, n);
  s.k = k;
  s.bias = bias;
  s.fused = bias && job_.training.kernels.fused;  // added by the GEMM, not after it
  if (job_.training.precision.fp8) s.type = DataType::kFp8;
  return s;
}

LinearWork SubmoduleMaker::Linear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                  bool bias) {
  return Products(LinearOf(name, rows, n, k, bias));
}

// With the scales of earlier steps.
uint32_t SubmoduleMaker::Quantise(const std::string& name, int64_t rows, int64_t n, bool unturned,
                                  Pass pass) {
  Submodule s = Base(name, SubmoduleKind::kQuantise, rows, n);
  s.fused = true;
  s.unturned = unturned;
  return Add(s, pass);
}

PartWork SubmoduleMaker::ColumnParts(Submodule s, Pass pass) {
  s.n /= kScatterParts;
  return {Add(s, pass), kScatterParts};
}

PartWork SubmoduleMaker::RowParts(Submodule s, Pass pass) {
  s.rows /= layout_.tensor;
  return {Add(s, pass), layout_.tensor};
}

// _LayerNormLinear and _Linear of Transformer Engine: a fused norm writes fp8; without one, what is
// gathered is quantised before. Backward, the input is gathered again and only then turned.
LinearWork SubmoduleMaker::ColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                        bool bias, InputFrom from) {
  Submodule s = LinearOf(name, rows, n, k, bias);
  const bool split = engine_fp8() && layout_.sequence_parallel;
  s.fp8_input = split || (engine_fp8() && from == InputFrom::kNorm);
  LinearWork linear = Products(s);
  if (!split) return linear;
  linear.gathered = DataType::kFp8;
  if (from == InputFrom::kElsewhere) {
    linear.input_cast =
        Quantise(name + ".cast", rows / layout_.tensor, k, /*unturned=*/true, Pass::kForward);
  }
  return linear;
}

// The output gradient is quantised before it is gathered, and turned behind that.
LinearWork SubmoduleMaker::RowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k) {
  Submodule s = LinearOf(name, rows, n, k, /*bias=*/false);
  const bool split = engine_fp8() && layout_.sequence_parallel;
  s.fp8_gradient = split;
  LinearWork linear = Products(s);
  if (!split) return linear;
  linear.gathered = DataType::kFp8;
  linear.gradient_cast =
      Quantise(name + ".cast", rows / layout_.tensor, n, /*unturned=*/true, Pass::kBackward);
  return linear;
}

LinearWork SubmoduleMaker::OverlappedColumnLinear(const std::string& name, int64_t rows, int64_t n,
                                                  int64_t k, bool bias, InputFrom from) {
  LinearWork linear = ColumnLinear(name, rows, n, k, bias, from);
  linear.userbuffers = overlaps();
  if (overlaps() && job_.overlap.tensor_gather) {
    Submodule s = LinearOf(name, rows, n, k, bias);
    s.fp8_input = engine_fp8();
    linear.forward_parts = RowParts(s, Pass::kForward);
  }
  return linear;
}

LinearWork SubmoduleMaker::OverlappedRowLinear(const std::string& name, int64_t rows, int64_t n,
                                               int64_t k, ScatterForm form) {
  LinearWork linear = RowLinear(name, rows, n, k);
  linear.userbuffers = overlaps();
  Submodule s = LinearOf(name, rows, n, k, /*bias=*/false);
  s.fp8_input = s.fp8_gradient = engine_fp8();
  if (overlaps() && job_.overlap.tensor_scatter) {
    if (engine_fp8()) {
      linear.input_cast = Quantise(name + ".cast", rows, k, /*unturned=*/false, Pass::kForward);
    }
    const bool ring = form == ScatterForm::kRing;
    linear.forward_parts = ring ? RowParts(s, Pass::kForward) : ColumnParts(s, Pass::kForward);
    if (ring) {
      Submodule sum = Base(name + ".sum", SubmoduleKind::kAdd, rows / layout_.tensor, n);
      sum.top_k = layout_.tensor;
      linear.sum = Add(sum, Pass::kForward);
    }
  }
  if (overlaps() && job_.overlap.tensor_gather) {
    linear.gradient_parts = RowParts(s, Pass::kBackwardActivation);
  }
  return linear;
}

LinearWork SubmoduleMaker::HeadLinear(const std::string& name, int64_t rows, int64_t n, int64_t k) {
  Submodule s = Base(name, SubmoduleKind::kLinear, rows, n);
  s.k = k;
  return Products(s);
}

LinearWork SubmoduleMaker::GroupedLinear(const std::string& name, int64_t rows, int64_t n,
                                         int64_t k, int64_t experts) {
  Submodule s = Base(name, SubmoduleKind::kGroupedLinear, rows, n);
  s.k = k;
  s.experts = experts;
  if (job_.training.precision.fp8) s.type = DataType::kFp8;
  return Products(s);
}

uint32_t SubmoduleMaker::Accumulation(const Submodule& linear) {
  Submodule s = Base(linear.name + "-accumulate", SubmoduleKind::kAdd,
                     linear.n * std::max(int64_t{1}, linear.experts), linear.k);
  s.accumulate_fp32 = job_.training.precision.gradients == DataType::kFp32;
  return Add(s, Pass::kBackwardWeight);
}

TwoWayWork SubmoduleMaker::Norm(const std::string& name, int64_t rows, int64_t width) {
  Submodule s = Base(name, SubmoduleKind::kNorm, rows, width);
  s.rms = model().rms_norm;
  s.bias = !model().rms_norm;
  s.fused = job_.training.kernels.fused;
  return BothWays(s);
}

TwoWayWork SubmoduleMaker::Activation(const std::string& name, int64_t rows, int64_t width) {
  Submodule s = Base(name, SubmoduleKind::kActivation, rows, width);
  s.gated = model().mlp.gated();
  s.bias = model().bias;
  return BothWays(s);
}

TwoWayWork SubmoduleMaker::Residual(const std::string& name) {
  Submodule s = Base(name, SubmoduleKind::kBiasDropoutAdd, local_rows_, model().hidden);
  s.bias = model().bias;
  s.dropout = model().dropout > 0;
  return BothWays(s);
}

}  // namespace drydock
