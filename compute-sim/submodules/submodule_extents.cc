#include "compute-sim/submodules/submodule_extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/kernel/kernel.h"
#include "core/base/check.h"

namespace drydock {
namespace {

using S = Submodule;

std::vector<SubmoduleShape> MakeShapes() {
  using K = SubmoduleKind;
  const SubmoduleExtent rows{"rows", &S::rows}, n{"n", &S::n}, k{"k", &S::k};
  const SubmoduleExtent elements{"elements", &S::elements};
  const SubmoduleExtent experts{"experts", &S::experts}, top_k{"top_k", &S::top_k};
  const SubmoduleFlag fused{"fused", &S::fused}, bias{"bias", &S::bias};
  const SubmoduleFlag dropout{"dropout", &S::dropout};
  const SubmoduleFlag fp32{"accumulate_fp32", &S::accumulate_fp32};
  const SubmoduleFlag half{"accumulate_half", &S::accumulate_half};
  return {
      {K::kLinear,
       {rows, n, k},
       {},
       {bias, fused, fp32, half, {"fp8_input", &S::fp8_input}, {"fp8_gradient", &S::fp8_gradient}}},
      {K::kAttention,
       {{"batch", &S::batch},
        {"sequence", &S::sequence},
        {"heads", &S::heads},
        {"kv_heads", &S::kv_heads},
        {"head_dim", &S::head_dim}},
       {{"kv_sequence", &S::kv_sequence}, {"value_dim", &S::value_dim}},
       {{"causal", &S::causal}, fused, dropout}},
      {K::kNorm, {rows, n}, {}, {fused, {"rms", &S::rms}}},
      {K::kBiasDropoutAdd, {rows, n}, {}, {bias, dropout}},
      {K::kActivation, {rows, n}, {}, {{"gated", &S::gated}, bias}},
      {K::kRotary, {rows, n}, {}, {fused}},
      {K::kEmbedding, {rows, n, k}, {}, {bias, dropout}},
      {K::kCrossEntropy, {rows, n}, {}, {fused}},
      {K::kOptimizer, {elements}, {}, {}, false},
      {K::kGradientScale, {elements}, {}, {}, false},
      {K::kGradientNorm, {elements}, {}, {}, false},
      {K::kCast, {elements}, {}, {}, false},
      {K::kAdd, {rows, n}, {top_k}, {fp32}, false},
      {K::kRouter, {rows, n, k}, {}, {fp32}},
      {K::kTopK, {rows, n, top_k}, {}, {}},
      {K::kPermute, {rows, n, experts, top_k}, {}, {}},
      {K::kUnpermute, {rows, n, experts, top_k}, {}, {}},
      {K::kGroupedLinear, {rows, n, k, experts}, {}, {fp32, half}},
      {K::kQuantise, {rows, n}, {}, {fused, {"unturned", &S::unturned}}, false},
      {K::kGiven, {}, {}, {}, false},
      {K::kCounted, {}, {}, {}, false},
  };
}

// Multiplications, or elements where there are none: products of some of the extents stay below.
constexpr double kMostWork = 0x1p62;

double WorkOf(const Submodule& s) {
  const auto extent = [](int64_t value) { return static_cast<double>(value); };
  if (s.kind == SubmoduleKind::kAttention) {
    const double keys = extent(s.kv_sequence > 0 ? s.kv_sequence : s.sequence);
    const double width = extent(s.head_dim) + extent(std::max(s.head_dim, s.value_dim));
    return extent(s.batch) * extent(std::max(s.heads, s.kv_heads)) * extent(s.sequence) * keys *
           width;
  }
  double work = 1;
  for (const SubmoduleExtent& each : ShapeOf(s.kind).needed) work *= extent(s.*each.field);
  return work;
}

Error Contradiction(const Submodule& s, const std::string& what) {
  return Error(fmt::format("submodule '{}' ({}) {}", s.name,
                           SubmoduleKindNames()[static_cast<size_t>(s.kind)], what));
}

}  // namespace

const SubmoduleShape& ShapeOf(SubmoduleKind kind) {
  static const std::vector<SubmoduleShape> shapes = MakeShapes();
  CHECK(shapes.size() == static_cast<size_t>(kSubmoduleKindCount));
  const SubmoduleShape& shape = shapes[static_cast<size_t>(kind)];
  CHECK(shape.kind == kind);
  return shape;
}

Status CheckExtents(const Submodule& s) {
  for (const SubmoduleExtent& extent : ShapeOf(s.kind).needed) {
    const int64_t value = s.*extent.field;
    if (value > 0) continue;
    return Contradiction(s, fmt::format("has {} = {}; it must be above 0", extent.name, value));
  }
  if (WorkOf(s) > kMostWork) {
    return Contradiction(s, "has extents whose product is too large for any GPU");
  }
  if (s.kind == SubmoduleKind::kAttention) {
    const std::string contradiction = ContradictionOf(AttentionShape{
        s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim, s.causal, s.kv_sequence, 0});
    if (!contradiction.empty()) return Contradiction(s, contradiction);
  }
  if (s.kind == SubmoduleKind::kTopK && s.top_k > s.n) {
    return Contradiction(s, fmt::format("picks {} of {}", s.top_k, s.n));
  }
  if ((s.kind == SubmoduleKind::kPermute || s.kind == SubmoduleKind::kUnpermute) &&
      s.top_k > s.experts) {
    return Contradiction(s, fmt::format("picks {} of {}", s.top_k, s.experts));
  }
  return OkStatus();
}

}  // namespace drydock
