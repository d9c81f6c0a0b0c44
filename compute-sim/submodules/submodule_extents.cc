#include "compute-sim/submodules/submodule_extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/kernel/kernel.h"

namespace drydock {
namespace {

// The largest number of multiplications, or of elements if there are none. Below this limit,
// products of some of the extents fit an int64_t.
constexpr double kMaxWork = 0x1p62;

double WorkOf(const submodule::Attention& s) {
  const auto extent = [](int64_t value) { return static_cast<double>(value); };
  const double width = extent(s.head_dim) + extent(std::max(s.head_dim, s.value_dim));
  return extent(s.batch) * extent(std::max(s.heads, s.kv_heads)) * extent(s.sequence) *
         extent(s.keys()) * width;
}

// All keys, though most kernels read the picked ones only.
double WorkOf(const submodule::SparseWork& s, int64_t width) {
  return static_cast<double>(s.rows) * static_cast<double>(s.keys) *
         static_cast<double>(std::max(s.heads, int64_t{128})) * static_cast<double>(width);
}

double WorkOf(const Submodule& s) {
  if (const auto* sparse = s.As<submodule::SparseIndex>()) return WorkOf(*sparse, sparse->head_dim);
  if (const auto* sparse = s.As<submodule::SparseTarget>())
    return WorkOf(*sparse, sparse->head_dim);
  if (const auto* sparse = s.As<submodule::SparseAttention>())
    return WorkOf(*sparse, sparse->head_dim + sparse->value_dim);
  if (const auto* attention = s.As<submodule::Attention>()) return WorkOf(*attention);
  double work = 1;
  ForEachField(s.work, [&](submodule::Field field, std::string_view, const auto& value) {
    if (field == submodule::Field::kExtent) work *= static_cast<double>(value);
  });
  return work;
}

// "has n = 0; it must be above 0"; "" if every extent is above 0.
std::string MissingExtent(const Submodule& s) {
  std::string missing;
  ForEachField(s.work, [&](submodule::Field field, std::string_view name, const auto& value) {
    if (field != submodule::Field::kExtent || value > 0 || !missing.empty()) return;
    missing = fmt::format("has {} = {}; it must be above 0", name, value);
  });
  return missing;
}

struct Contradiction {
  std::string operator()(const submodule::Attention& s) const {
    return ContradictionOf(AttentionShape{s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim,
                                          s.causal, s.kv_sequence, 0});
  }
  std::string operator()(const submodule::TopK& s) const { return Picks(s.top_k, s.n); }
  std::string operator()(const submodule::Permute& s) const { return Picks(s.top_k, s.experts); }
  std::string operator()(const submodule::Unpermute& s) const { return Picks(s.top_k, s.experts); }
  std::string operator()(const submodule::StateSpace& s) const {
    return s.heads % s.groups == 0
               ? ""
               : fmt::format("has {} heads, which {} groups do not share evenly", s.heads,
                             s.groups);
  }
  std::string operator()(const submodule::DeltaRule& s) const {
    return s.heads % s.kv_heads == 0
               ? ""
               : fmt::format("has {} heads, which {} kv_heads do not divide", s.heads, s.kv_heads);
  }
  std::string operator()(const submodule::SparseIndex& s) const { return Packs(s); }
  std::string operator()(const submodule::SparseTarget& s) const { return Packs(s); }
  std::string operator()(const submodule::SparseAttention& s) const {
    return s.value_dim <= s.head_dim
               ? Packs(s)
               : fmt::format(
                     "has a value_dim {} that is more than head_dim {}, of which it is a part",
                     s.value_dim, s.head_dim);
  }
  std::string operator()(const auto&) const { return ""; }

 private:
  static std::string Picks(int64_t picked, int64_t of) {
    return picked > of ? fmt::format("picks {} of {}", picked, of) : "";
  }
  static std::string Packs(const submodule::SparseWork& s) {
    return s.samples > s.keys
               ? fmt::format("packs {} samples in a kv_sequence of {}; give at most {}", s.samples,
                             s.keys, s.keys)
               : "";
  }
};

std::string MistakeIn(const Submodule& s) {
  if (std::string missing = MissingExtent(s); !missing.empty()) return missing;
  if (WorkOf(s) > kMaxWork) return "has extents whose product is too large for any GPU";
  return std::visit(Contradiction(), s.work);
}

}  // namespace

Status CheckExtents(const Submodule& s) {
  const std::string mistake = MistakeIn(s);
  if (mistake.empty()) return OkStatus();
  return Error(fmt::format("submodule '{}' ({}) {}", s.name, s.kind_name(), mistake));
}

}  // namespace drydock
