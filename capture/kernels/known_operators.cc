#include "capture/kernels/known_operators.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "capture/kernels/attention.h"
#include "capture/kernels/traffic.h"

namespace drydock::capture {
namespace {

std::optional<Submodule> NormSubmodule(const OperatorValues& arguments, size_t input, size_t shape,
                                       size_t bias, bool is_backward, bool is_rms) {
  if (arguments.size() <= shape || !arguments[input].is_tensor()) return std::nullopt;
  const TensorShape& x = arguments[input].tensors.front();
  submodule::Norm work;
  work.n = 1;
  for (const int64_t size : arguments[shape].numbers) work.n *= size;
  if (x.on_host || work.n <= 0 || x.elements() < work.n) return std::nullopt;
  work.rows = x.elements() / work.n;
  work.rms = is_rms;
  work.fused = is_rms;  // PyTorch has one kernel for it
  work.bias = bias < arguments.size() && arguments[bias].is_tensor();
  Submodule s;
  s.pass = is_backward ? Pass::kBackward : Pass::kForward;
  s.type = x.type;
  s.bytes = x.bytes() * (is_backward ? 3 : 2);
  s.work = work;
  return s;
}

// Norms of Transformer Engine and Apex: functions on rows of the last dimension. `input`: index of
// the argument.
std::optional<Submodule> FusedNorm(const OperatorValues& arguments, size_t input, bool is_backward,
                                   bool is_rms) {
  if (arguments.size() <= input || !arguments[input].is_tensor()) return std::nullopt;
  const TensorShape& x = arguments[input].tensors.front();
  if (x.on_host || x.sizes.empty() || x.elements() == 0) return std::nullopt;
  submodule::Norm work;
  work.n = x.sizes.back();
  work.rows = x.elements() / work.n;
  work.fused = true;
  work.rms = is_rms;
  Submodule s;
  s.pass = is_backward ? Pass::kBackward : Pass::kForward;
  s.type = x.type;
  s.bytes = x.bytes() * (is_backward ? 3 : 2);
  s.work = work;
  return s;
}

std::optional<Submodule> EmbeddingSubmodule(const OperatorValues& arguments) {
  if (arguments.size() < 2 || !arguments[0].is_tensor() || !arguments[1].is_tensor()) {
    return std::nullopt;
  }
  const TensorShape &table = arguments[0].tensors.front(), &rows = arguments[1].tensors.front();
  if (table.on_host || table.sizes.size() != 2 || rows.elements() == 0) return std::nullopt;
  submodule::Embedding work;
  work.rows = rows.elements();
  work.k = table.sizes[0];
  work.n = table.sizes[1];
  if (work.k == 0 || work.n == 0) return std::nullopt;
  Submodule s;
  s.type = table.type;
  s.bytes = Bytes(2 * work.rows * work.n * table.element_bytes);
  s.work = work;
  return s;
}

// Zeroed gradients of the table, and gradients added to rows of it.
std::optional<Submodule> EmbeddingGradient(const OperatorValues& arguments) {
  if (arguments.size() < 3 || !arguments[0].is_tensor()) return std::nullopt;
  const TensorShape& gradient = arguments[0].tensors.front();
  if (gradient.on_host || gradient.sizes.empty()) return std::nullopt;
  const auto table = static_cast<int64_t>(arguments[2].number) * gradient.sizes.back();
  return TrafficSubmodule(
      gradient.bytes() * 3 + Bytes(std::max<int64_t>(table, 0) * gradient.element_bytes), true);
}

// Parameters, gradients and moments are lists of tensors; the first may be fp32 like the others.
std::optional<Submodule> AdamSubmodule(const OperatorValues& lists) {
  if (lists.size() < 4) return std::nullopt;
  submodule::Optimizer work;
  bool is_fp32 = true;
  for (size_t list = 0; list < 4; ++list) {
    for (const TensorShape& tensor : lists[list].tensors) {
      if (tensor.on_host) return std::nullopt;
      is_fp32 &= tensor.type == DataType::kFp32;
      if (list == 0) work.elements += tensor.elements();
    }
  }
  work.tensors = static_cast<int64_t>(lists[0].tensors.size());
  if (work.elements == 0) return std::nullopt;
  if (!is_fp32) {
    Bytes traffic;  // all are read, and all but the gradients written
    for (size_t list = 0; list < 4; ++list) traffic += lists[list].bytes() * (list == 1 ? 1 : 2);
    return TrafficSubmodule(traffic, false);
  }
  Submodule s;
  s.pass = Pass::kNone;
  s.type = DataType::kFp32;
  s.bytes = Bytes(work.elements * 28);
  s.work = work;
  return s;
}

using V = OperatorValues;
using Reader = std::optional<Submodule> (*)(const V& arguments);
const std::map<std::string_view, Reader> kKnown = {
    {"aten::native_layer_norm", [](const V& a) { return NormSubmodule(a, 0, 1, 3, false, false); }},
    {"aten::native_layer_norm_backward",
     [](const V& a) { return NormSubmodule(a, 1, 2, 6, true, false); }},
    {"aten::_fused_rms_norm",
     [](const V& a) { return NormSubmodule(a, 0, 1, a.size(), false, true); }},
    {"aten::_fused_rms_norm_backward",
     [](const V& a) { return NormSubmodule(a, 1, 2, a.size(), true, true); }},
    {"transformer_engine_torch::layernorm_fwd",
     [](const V& a) { return FusedNorm(a, 0, false, false); }},
    {"transformer_engine_torch::layernorm_bwd",
     [](const V& a) { return FusedNorm(a, 1, true, false); }},
    {"transformer_engine_torch::rmsnorm_fwd",
     [](const V& a) { return FusedNorm(a, 0, false, true); }},
    {"transformer_engine_torch::rmsnorm_bwd",
     [](const V& a) { return FusedNorm(a, 1, true, true); }},
    {"fused_layer_norm_cuda::forward_affine",
     [](const V& a) { return FusedNorm(a, 0, false, false); }},
    {"fused_layer_norm_cuda::forward_affine_mixed_dtypes",
     [](const V& a) { return FusedNorm(a, 0, false, false); }},
    {"fused_layer_norm_cuda::backward_affine",
     [](const V& a) { return FusedNorm(a, 0, true, false); }},
    {"fused_layer_norm_cuda::rms_forward_affine",
     [](const V& a) { return FusedNorm(a, 0, false, true); }},
    {"fused_layer_norm_cuda::rms_forward_affine_mixed_dtypes",
     [](const V& a) { return FusedNorm(a, 0, false, true); }},
    {"fused_layer_norm_cuda::rms_backward_affine",
     [](const V& a) { return FusedNorm(a, 0, true, true); }},
    {"fast_layer_norm::ln_fwd", [](const V& a) { return FusedNorm(a, 0, false, false); }},
    {"fast_layer_norm::ln_bwd", [](const V& a) { return FusedNorm(a, 0, true, false); }},
    {"aten::embedding", EmbeddingSubmodule},
    {"aten::embedding_dense_backward", EmbeddingGradient},
    {"aten::_fused_adam_", AdamSubmodule},
    {"aten::_fused_adamw_", AdamSubmodule},
};

}  // namespace

bool IsKnownOperator(std::string_view name) { return IsAttention(name) || kKnown.count(name) != 0; }

std::vector<Submodule> KnownSubmodules(const OperatorRange& range) {
  if (IsAttention(range.name)) return AttentionSubmodules(range);
  const auto known = kKnown.find(range.name);
  if (known == kKnown.end()) return {};
  const std::optional<Submodule> found = known->second(range.arguments);
  return found ? std::vector{*found} : std::vector<Submodule>();
}

}  // namespace drydock::capture
