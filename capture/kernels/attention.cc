#include "capture/kernels/attention.h"

#include <algorithm>
#include <optional>

#include "capture/kernels/products.h"
#include "core/model/attention_backend.h"

namespace drydock::capture {
namespace {

enum class Layout : uint8_t {
  kHeadsFirst,  // batch, heads, sequence, head_dim
  kHeadsLast,   // batch, sequence, heads, head_dim
  kPacked,      // tokens of all sequences, heads, head_dim
};
struct AttentionOperator {
  std::string_view name;
  const char* backend;
  bool is_backward;
  Layout layout;
  size_t queries;  // index of the argument; keys and values follow
  size_t dropout, causal;
  size_t starts = 0;  // kPacked: the sequences' first tokens
};
// As native_functions.yaml of PyTorch 2.9, flash_attn_interface.py of flash-attn 2.8 and
// hopper/flash_api.cpp of FlashAttention-3 have them. flash-attn 2 runs FlashAttention-2, as
// PyTorch does.
constexpr AttentionOperator kAttention[] = {
    {"aten::_scaled_dot_product_flash_attention", kAttentionByPytorch, false, Layout::kHeadsFirst,
     0, 3, 4},
    {"aten::_scaled_dot_product_flash_attention_backward", kAttentionByPytorch, true,
     Layout::kHeadsFirst, 1, 10, 11},
    {"aten::_scaled_dot_product_efficient_attention", kAttentionByPytorch, false,
     Layout::kHeadsFirst, 0, 5, 6},
    {"aten::_scaled_dot_product_efficient_attention_backward", kAttentionByPytorch, true,
     Layout::kHeadsFirst, 1, 9, 11},
    {"aten::_scaled_dot_product_cudnn_attention", kAttentionByCudnn, false, Layout::kHeadsFirst, 0,
     5, 6},
    {"aten::_scaled_dot_product_cudnn_attention_backward", kAttentionByCudnn, true,
     Layout::kHeadsFirst, 1, 13, 14},
    {"aten::_flash_attention_forward", kAttentionByPytorch, false, Layout::kHeadsLast, 0, 7, 8, 3},
    {"aten::_flash_attention_backward", kAttentionByPytorch, true, Layout::kHeadsLast, 1, 10, 11,
     6},
    {"aten::_efficient_attention_forward", kAttentionByPytorch, false, Layout::kHeadsLast, 0, 8, 9,
     4},
    {"flash_attn::_flash_attn_forward", kAttentionByPytorch, false, Layout::kHeadsLast, 0, 3, 5},
    {"flash_attn::_flash_attn_backward", kAttentionByPytorch, true, Layout::kHeadsLast, 1, 9, 11},
    {"flash_attn::_flash_attn_varlen_forward", kAttentionByPytorch, false, Layout::kPacked, 0, 7, 9,
     3},
    {"flash_attn::_flash_attn_varlen_backward", kAttentionByPytorch, true, Layout::kPacked, 1, 13,
     15, 9},
    // No dropout: the index of a tensor, whose number is 0.
    {"flash_attn_3::fwd", kAttentionByFlash, false, Layout::kHeadsLast, 0, 0, 24, 7},
    {"flash_attn_3::bwd", kAttentionByFlash, true, Layout::kHeadsLast, 1, 1, 16, 9},
};

double NumberAt(const OperatorValues& values, size_t at) {
  return at < values.size() ? values[at].number : 0;
}

// FLOPs and bytes of fused attention.
void SetCosts(const submodule::Attention& work, Submodule* s) {
  const double share =
      work.causal ? 1 - 0.5 * static_cast<double>(work.sequence) / static_cast<double>(work.keys())
                  : 1;
  const double forward = 2.0 * static_cast<double>(work.batch * work.heads * work.sequence) *
                         static_cast<double>(work.keys()) * share *
                         static_cast<double>(work.head_dim + work.value_width());
  const bool is_backward = s->pass == Pass::kBackward;
  s->flops = is_backward ? 2.5 * forward : forward;
  const int64_t moved = work.batch * (work.sequence * work.heads + work.keys() * work.kv_heads) *
                        (work.head_dim + work.value_width());
  s->bytes = SizeOf(s->type) * moved * (is_backward ? 2 : 1);
}

// No model knows fused attention in fp32. It takes what its products take: two forward; backward
// five, of which it computes one again.
std::vector<Submodule> AttentionAsProducts(const submodule::Attention& work, const Submodule& s) {
  const int64_t seen =
      work.causal ? std::max<int64_t>(work.keys() - work.sequence / 2, 1) : work.keys();
  const auto product = [&](int64_t n, int64_t k) {
    submodule::GroupedLinear own;
    own.experts = work.batch * work.heads;
    own.rows = own.experts * work.sequence;
    own.n = n;
    own.k = k;
    own.one_kernel = true;
    Submodule part;
    part.pass = Pass::kForward;
    part.type = s.type;
    part.flops =
        2.0 * static_cast<double>(own.rows) * static_cast<double>(n) * static_cast<double>(k);
    part.work = own;
    return part;
  };
  const Submodule scores = product(seen, work.head_dim), values = product(work.value_width(), seen);
  std::vector<Submodule> parts = {scores, values};
  if (s.pass == Pass::kBackward) parts.insert(parts.end(), {scores, values, scores});
  parts.front().bytes = s.bytes;
  return parts;
}

bool HasModelOfAttention(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || IsQuantized(type);
}

std::optional<Submodule> AttentionSubmodule(const AttentionOperator& op,
                                            const OperatorValues& arguments) {
  const size_t last = std::max({op.queries + 2, op.causal, op.dropout});
  if (arguments.size() <= last) return std::nullopt;
  const auto tensor = [&](size_t at) -> const TensorShape* {
    return arguments[at].is_tensor() ? &arguments[at].tensors.front() : nullptr;
  };
  const TensorShape *q = tensor(op.queries), *k = tensor(op.queries + 1),
                    *v = tensor(op.queries + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  submodule::Attention work;
  const bool is_packed = q->sizes.size() == 3;
  if (q->sizes.size() != (is_packed ? 3u : 4u) || k->sizes.size() != q->sizes.size() ||
      v->sizes.size() != q->sizes.size()) {
    return std::nullopt;
  }
  if (is_packed) {
    const TensorShape* starts = op.starts > 0 ? tensor(op.starts) : nullptr;
    if (starts == nullptr) return std::nullopt;
    work.batch = std::max<int64_t>(starts->elements() - 1, 1);
    work.sequence = q->sizes[0] / work.batch;
    work.kv_sequence = k->sizes[0] / work.batch;
    work.heads = q->sizes[1];
    work.kv_heads = k->sizes[1];
  } else {
    const size_t heads = op.layout == Layout::kHeadsFirst ? 1 : 2, tokens = 3 - heads;
    work.batch = q->sizes[0];
    work.sequence = q->sizes[tokens];
    work.kv_sequence = k->sizes[tokens];
    work.heads = q->sizes[heads];
    work.kv_heads = k->sizes[heads];
  }
  work.head_dim = q->sizes.back();
  work.value_dim = v->sizes.back();
  if (work.kv_sequence == work.sequence) work.kv_sequence = 0;
  if (work.value_dim == work.head_dim) work.value_dim = 0;
  work.causal = NumberAt(arguments, op.causal) != 0 && work.keys() >= work.sequence;
  work.dropout = NumberAt(arguments, op.dropout) > 0;
  work.fused = true;
  if (std::min({work.batch, work.sequence, work.heads, work.kv_heads, work.head_dim}) <= 0) {
    return std::nullopt;
  }
  Submodule s;
  s.pass = op.is_backward ? Pass::kBackward : Pass::kForward;
  s.type = q->type;
  SetCosts(work, &s);
  s.work = work;
  return s;
}

}  // namespace

const char* AttentionBackendOf(std::string_view name) {
  for (const AttentionOperator& op : kAttention) {
    if (op.name == name) return op.backend;
  }
  return nullptr;
}

bool IsAttention(std::string_view name) { return AttentionBackendOf(name) != nullptr; }

std::vector<Submodule> AttentionSubmodules(const OperatorRange& range) {
  std::optional<Submodule> found;
  for (const AttentionOperator& op : kAttention) {
    if (op.name == range.name) found = AttentionSubmodule(op, range.arguments);
  }
  if (!found) return {};
  if (found->type == DataType::kFp64) {
    found->work = submodule::FlopsAndBytes{};
  } else if (!HasModelOfAttention(found->type)) {
    return AttentionAsProducts(*found->As<submodule::Attention>(), *found);
  }
  return {*found};
}

Submodule LoggedAttention(std::span<const int64_t> words) {
  submodule::Attention work;
  work.batch = words[2];
  work.heads = words[3];
  work.kv_heads = words[4];
  work.sequence = words[5];
  work.kv_sequence = words[6] == words[5] ? 0 : words[6];
  work.head_dim = words[7];
  work.value_dim = words[8] == words[7] ? 0 : words[8];
  work.causal = words[10] != 0 && work.keys() >= work.sequence;
  work.dropout = words[11] != 0;
  work.fused = true;
  LoggedProduct of_type;
  of_type.type_a = static_cast<int>(words[9]);
  Submodule s;
  s.pass = words[1] != 0 ? Pass::kBackward : Pass::kForward;
  s.type = TypeOfProduct(of_type);
  SetCosts(work, &s);
  s.work = work;
  return s;
}

}  // namespace drydock::capture
