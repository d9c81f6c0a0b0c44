#include "workload-gen/work/submodule_maker.h"

#include <type_traits>

#include "workload-gen/work/submodule_costs.h"

namespace drydock {

SubmoduleMaker::SubmoduleMaker(const TrainingJob& job, const ParallelLayout& layout,
                               WorkTables* tables)
    : job_(job), layout_(layout), tables_(tables) {
  rows_ = job.rank_tokens();
  local_rows_ = layout.sequence_parallel ? rows_ / layout.tensor : rows_;
}

uint32_t SubmoduleMaker::Add(Submodule s) {
  FillCosts(&s);
  return tables_->Intern(s);
}

uint32_t SubmoduleMaker::Add(const std::string& name, const SubmoduleWork& work, Pass pass) {
  return Add({.name = name, .pass = pass, .type = job_.training.precision.type, .work = work});
}

ForwardBackwardWork SubmoduleMaker::ForwardBackward(const std::string& name,
                                                    const SubmoduleWork& work) {
  return {Add(name, work, Pass::kForward), Add(name, work, Pass::kBackward)};
}

// The forward GEMM reads no output gradient, and the GEMM of the input gradient reads no input.
uint32_t SubmoduleMaker::AddLinear(const std::string& name, DataType type, submodule::Linear linear,
                                   Pass pass) {
  if (pass == Pass::kForward) linear.fp8_gradient = linear.search_gradient = false;
  if (pass == Pass::kBackwardActivation) linear.fp8_input = linear.search_input = false;
  if (pass == Pass::kBackwardWeight) linear.search_input = linear.search_gradient = false;
  return Add({.name = name, .pass = pass, .type = type, .work = linear});
}

// What the activation is fused with: fc1 forward, whose gradient then arrives quantized; the
// gradient of fc2's input, whose input then does.
uint32_t SubmoduleMaker::AddLinear(const std::string& name, DataType type,
                                   submodule::GroupedLinear linear, Pass pass) {
  if (pass != Pass::kForward && pass != Pass::kBackwardActivation) linear.fused = false;
  if (pass == Pass::kForward && linear.fp8_input) linear.fused = false;
  if (pass == Pass::kBackwardActivation && linear.fp8_gradient) linear.fused = false;
  if (pass != Pass::kForward) linear.fp8_input = false;
  if (pass != Pass::kBackwardActivation) linear.fp8_gradient = false;
  linear.gated = linear.gated && linear.fused;
  return Add({.name = name, .pass = pass, .type = type, .work = linear});
}

DataType SubmoduleMaker::linear_type() const {
  if (half_ || (part_ != nullptr && precision().half_parts.*part_)) return precision().type;
  if (part_ != nullptr && precision().mxfp8_parts.*part_) return DataType::kMxfp8;
  return precision().products();
}

template <typename Kind>
LinearWork SubmoduleMaker::Gemms(const std::string& name, DataType type, Kind linear) {
  const auto add = [&](Pass pass) { return AddLinear(name, type, linear, pass); };
  LinearWork work;
  work.frozen = model().lora.any();
  work.gathered.type = job_.training.precision.type;
  work.forward = add(Pass::kForward);
  work.activation_gradient = add(Pass::kBackwardActivation);
  const bool fp32 = job_.training.precision.gradients == DataType::kFp32;
  // Gradients that are reduced in each micro-batch are written, not added; in fp32 the product
  // still writes the wider type, and the little that it does not read is left out.
  const bool adds = !job_.megatron_fsdp.shards_gradients();
  linear.accumulate_fp32 = fp32 && job_.training.kernels.gradient_accumulation_fusion;
  linear.accumulate_half = !fp32 && adds && job_.training.kernels.gradient_accumulation_fusion;
  work.weight_gradient = add(Pass::kBackwardWeight);
  if (job_.training.kernels.gradient_accumulation_fusion) return work;
  int64_t rows = linear.n;
  if constexpr (std::is_same_v<Kind, submodule::GroupedLinear>) rows *= linear.experts;
  work.accumulate = Accumulation(name, rows, linear.k);
  return work;
}

submodule::Linear SubmoduleMaker::LinearOf(int64_t rows, int64_t n, int64_t k, bool bias) const {
  const bool adds_bias = bias && job_.training.kernels.fused;  // in the GEMM, not in a later kernel
  return {.rows = rows, .n = n, .k = k, .fused = adds_bias, .bias = bias};
}

LinearWork SubmoduleMaker::Linear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                  bool bias) {
  submodule::Linear gemm = LinearOf(rows, n, k, bias);
  gemm.search_input = gemm.search_gradient = quantizes() && searches();
  return Gemms(name, linear_type(), gemm);
}

// Delayed scaling uses the scales of earlier steps. Fp8 that is gathered along its rows is turned
// afterwards; MXFP8 and NVFP4 are quantized along both dimensions at once.
uint32_t SubmoduleMaker::Quantize(const std::string& name, int64_t rows, int64_t n, bool searched,
                                  bool parts, Pass pass) {
  const bool delayed = precision().delayed_scaling();
  const bool both = parts || linear_type() == DataType::kMxfp8 || linear_type() == DataType::kNvfp4;
  return Add({.name = name,
              .pass = pass,
              .type = delayed ? precision().type : linear_type(),
              .work = submodule::Quantize{
                  .rows = rows, .n = n, .fused = !searched, .without_transpose = !both}});
}

WireFormat SubmoduleMaker::GatheredFormat(int directions) const {
  switch (linear_type()) {
    case DataType::kFp8:
      return {DataType::kFp8, 32};
    case DataType::kFp8Block:
      return {DataType::kFp8, 33};
    case DataType::kMxfp8:
      return {DataType::kFp8, 33 * directions};
    case DataType::kNvfp4:
      return {DataType::kUint8, 18 * directions};
    default:
      return {precision().type, 32};
  }
}

PartWork SubmoduleMaker::ColumnParts(const std::string& name, submodule::Linear linear, Pass pass) {
  linear.n /= kScatterParts;
  return {AddLinear(name, linear_type(), linear, pass), kScatterParts};
}

PartWork SubmoduleMaker::RowParts(const std::string& name, submodule::Linear linear, Pass pass) {
  linear.rows /= layout_.tensor;
  return {AddLinear(name, linear_type(), linear, pass), layout_.tensor};
}

// _LayerNormLinear and _Linear of Transformer Engine: with delayed scaling, a fused norm writes
// fp8; otherwise the input is quantized before it is gathered. Backward, the input is gathered
// again; fp8 is turned afterwards.
LinearWork SubmoduleMaker::ColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                        bool bias, InputFrom from) {
  submodule::Linear gemm = LinearOf(rows, n, k, bias);
  const bool norm = from == InputFrom::kNorm;
  // Userbuffers gather quantized rows also where an adapter gathers 16 bits for itself.
  const bool adapted = from == InputFrom::kNormForAdapter && !overlaps();
  const bool split = quantizes() && layout_.sequence_parallel && !adapted;
  const bool written = quantizes() && norm && precision().delayed_scaling();
  const bool searched = quantizes() && searches() && !(norm && norm_searches());
  gemm.fp8_input = split || written;
  gemm.search_input = searched && !split;
  gemm.fp8_gradient = activation_quantizes();
  gemm.search_gradient = quantizes() && searches() && !activation_searches();
  LinearWork linear = Gemms(name, linear_type(), gemm);
  if (!split) return linear;
  linear.gathered = GatheredFormat(1);
  linear.reduces_scale = searches();
  if (!written) {
    linear.input_cast = Quantize(name + ".cast", rows / layout_.tensor, k, searched,
                                 /*parts=*/false, Pass::kForward);
  }
  return linear;
}

// The output gradient is quantized before it is gathered; fp8 is turned afterwards.
LinearWork SubmoduleMaker::RowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k) {
  submodule::Linear gemm = LinearOf(rows, n, k, /*bias=*/false);
  const bool split = quantizes() && layout_.sequence_parallel;
  gemm.fp8_gradient = split;
  gemm.fp8_input = activation_quantizes();
  gemm.search_input = quantizes() && searches() && !activation_searches();
  gemm.search_gradient = quantizes() && searches() && !split;
  LinearWork linear = Gemms(name, linear_type(), gemm);
  if (!split) return linear;
  linear.gathered = GatheredFormat(2);
  linear.reduces_scale = searches();
  linear.gradient_cast = Quantize(name + ".cast", rows / layout_.tensor, n, searches(),
                                  /*parts=*/false, Pass::kBackward);
  return linear;
}

LinearWork SubmoduleMaker::OverlappedColumnLinear(const std::string& name, int64_t rows, int64_t n,
                                                  int64_t k, bool bias, InputFrom from) {
  LinearWork linear = ColumnLinear(name, rows, n, k, bias, from);
  linear.userbuffers = overlaps();
  if (overlaps() && job_.overlap.tensor_gather) {
    submodule::Linear part = LinearOf(rows, n, k, bias);
    part.fp8_input = quantizes();
    linear.forward_parts = RowParts(name, part, Pass::kForward);
  }
  return linear;
}

LinearWork SubmoduleMaker::OverlappedRowLinear(const std::string& name, int64_t rows, int64_t n,
                                               int64_t k, ScatterForm form) {
  LinearWork linear = RowLinear(name, rows, n, k);
  linear.userbuffers = overlaps();
  submodule::Linear part = LinearOf(rows, n, k, /*bias=*/false);
  part.fp8_input = part.fp8_gradient = quantizes();
  if (overlaps() && job_.overlap.tensor_scatter) {
    if (quantizes() && !activation_quantizes()) {
      linear.input_cast =
          Quantize(name + ".cast", rows, k, searches(), /*parts=*/true, Pass::kForward);
    }
    const bool ring = form == ScatterForm::kRing;
    linear.forward_parts =
        ring ? RowParts(name, part, Pass::kForward) : ColumnParts(name, part, Pass::kForward);
    if (ring) {
      linear.sum =
          Add(name + ".sum",
              submodule::Add{.rows = rows / layout_.tensor, .n = n, .summands = layout_.tensor},
              Pass::kForward);
    }
  }
  if (overlaps() && job_.overlap.tensor_gather) {
    linear.gradient_parts = RowParts(name, part, Pass::kBackwardActivation);
  }
  return linear;
}

LinearWork SubmoduleMaker::TrainedLinear(const std::string& name, int64_t rows, int64_t n,
                                         int64_t k) {
  LinearWork linear = HeadLinear(name, rows, n, k);
  linear.frozen = false;
  return linear;
}

LinearWork SubmoduleMaker::HeadLinear(const std::string& name, int64_t rows, int64_t n, int64_t k) {
  return Gemms(name, job_.training.precision.type, submodule::Linear{.rows = rows, .n = n, .k = k});
}

LinearWork SubmoduleMaker::GroupedLinear(const std::string& name, int64_t rows, int64_t n,
                                         int64_t k, int64_t experts, FusedActivation activation) {
  const bool searched = quantizes() && searches();
  return Gemms(name, linear_type(),
               submodule::GroupedLinear{.rows = rows,
                                        .n = n,
                                        .k = k,
                                        .experts = experts,
                                        .one_kernel = job_.training.moe.one_kernel,
                                        .search_input = searched,
                                        .search_gradient = searched,
                                        .fp8_input = activation == FusedActivation::kBefore,
                                        .fp8_gradient = activation == FusedActivation::kBehind,
                                        .fused = activation != FusedActivation::kNone,
                                        .gated = model().mlp.gated()});
}

uint32_t SubmoduleMaker::Accumulation(const std::string& linear, int64_t rows, int64_t n) {
  const bool fp32 = job_.training.precision.gradients == DataType::kFp32;
  submodule::Add add{.rows = rows, .n = n, .accumulate_fp32 = fp32};
  // A gradient that is reduced in each micro-batch is copied: as many bytes as a cast.
  if (job_.megatron_fsdp.shards_gradients()) {
    if (fp32)
      return Add(linear + "-accumulate", submodule::Cast{{rows * n}}, Pass::kBackwardWeight);
    add.summands = 1;
  }
  return Add(linear + "-accumulate", add, Pass::kBackwardWeight);
}

ForwardBackwardWork SubmoduleMaker::Norm(const std::string& name, int64_t rows, int64_t width) {
  return ForwardBackward(name, submodule::Norm{.rows = rows,
                                               .n = width,
                                               .fused = job_.training.kernels.fused,
                                               .rms = model().rms_norm,
                                               .bias = !model().rms_norm});
}

ForwardBackwardWork SubmoduleMaker::Activation(const std::string& name, int64_t rows,
                                               int64_t width) {
  const bool quantizes = activation_quantizes();
  const auto add = [&](Pass pass) {
    return Add(
        {.name = name,
         .pass = pass,
         .type = quantizes ? linear_type() : precision().type,
         .work = submodule::Activation{.rows = rows,
                                       .n = width,
                                       .gated = model().mlp.gated(),
                                       .bias = model().bias,
                                       .quantizes = quantizes,
                                       .fp8_input = job_.training.kernels.fp8_activation_input}});
  };
  return {add(Pass::kForward), add(Pass::kBackward)};
}

ForwardBackwardWork SubmoduleMaker::Residual(const std::string& name) {
  return ForwardBackward(name, submodule::BiasDropoutAdd{.rows = local_rows_,
                                                         .n = model().hidden,
                                                         .bias = model().bias,
                                                         .dropout = model().dropout > 0});
}

}  // namespace drydock
