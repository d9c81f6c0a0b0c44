#include "compute-sim/import/traced_op.h"

#include <algorithm>
#include <charconv>

namespace drydock {
namespace {

bool Positive(const std::vector<int64_t>& shape) {
  return !shape.empty() &&
         std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent > 0; });
}

// Rows and columns of a tensor for a kernel that works row by row.
std::optional<Kernel> RowKernel(KernelKind kind, DataType type, const std::vector<int64_t>& shape) {
  if (!Positive(shape)) return std::nullopt;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] > kMaxExtent / rows) return std::nullopt;
    rows *= shape[i];
  }
  return UsualMemoryKernel(kind, type, rows, shape.back());
}

std::optional<Kernel> GemmOfShapes(DataType type, const std::vector<int64_t>& a,
                                   const std::vector<int64_t>& b) {
  if (!Positive(a) || !Positive(b) || a.size() != b.size()) return std::nullopt;
  if (a.size() == 2 && a[1] == b[0]) return Gemm(type, a[0], b[1], a[1]);
  if (a.size() == 3 && a[0] == b[0] && a[2] == b[1]) {
    return BatchedGemm(type, a[0], a[1], b[2], a[2]);
  }
  return std::nullopt;
}

// The dimensions of heads and sequence in a tensor of queries, keys or values; the batch is the
// first dimension, the width the last.
struct AttentionLayout {
  size_t heads = 1, sequence = 2;
};

std::optional<Kernel> FusedAttention(DataType type, const TensorShapes& shapes, bool causal,
                                     const AttentionLayout& at) {
  for (size_t i = 0; i < 3; ++i) {
    if (!Positive(shapes[i]) || shapes[i].size() != 4) return std::nullopt;
  }
  const auto &q = shapes[0], &k = shapes[1], &v = shapes[2];
  const int64_t queries = q[at.sequence], keys = k[at.sequence];
  if (causal && keys < queries) return std::nullopt;
  return Attention(KernelKind::kAttentionForward, type,
                   {q[0], queries, q[at.heads], k[at.heads], q[3], causal, keys, v[3]});
}

struct Op {
  std::string_view name;
  size_t tensors;  // the number of tensors that it needs
  std::optional<Kernel> (*kernel)(const TensorShapes& shapes, DataType type, bool causal);
  int causal_argument = -1;  // of attention
};

template <KernelKind kKind>
std::optional<Kernel> OfFirst(const TensorShapes& shapes, DataType type, bool) {
  return RowKernel(kKind, type, shapes[0]);
}

template <size_t kFirst>
std::optional<Kernel> GemmFrom(const TensorShapes& shapes, DataType type, bool) {
  return GemmOfShapes(type, shapes[kFirst], shapes[kFirst + 1]);
}

std::optional<Kernel> HeadsFirst(const TensorShapes& shapes, DataType type, bool causal) {
  return FusedAttention(type, shapes, causal, {1, 2});
}

std::optional<Kernel> SequenceFirst(const TensorShapes& shapes, DataType type, bool causal) {
  return FusedAttention(type, shapes, causal, {2, 1});
}

// A kernel belongs to the innermost operator: for scaled_dot_product_flash_attention, to the last
// of the following.
constexpr Op kOps[] = {
    {"aten::mm", 2, GemmFrom<0>},
    {"aten::bmm", 2, GemmFrom<0>},
    {"aten::_scaled_mm", 2, GemmFrom<0>},
    {"aten::addmm", 3, GemmFrom<1>},
    {"aten::gelu", 1, OfFirst<KernelKind::kGelu>},
    {"aten::native_layer_norm", 1, OfFirst<KernelKind::kLayerNorm>},
    {"aten::_softmax", 1, OfFirst<KernelKind::kSoftmax>},
    {"aten::_scaled_dot_product_flash_attention", 3, HeadsFirst, 4},
    {"aten::_scaled_dot_product_cudnn_attention", 3, HeadsFirst, 6},
    {"aten::_flash_attention_forward", 3, SequenceFirst, 8},
};

const Op* FindOp(std::string_view name) {
  for (const Op& op : kOps) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace

std::optional<Kernel> KernelOfOp(std::string_view name, const TensorShapes& shapes, DataType type,
                                 std::optional<bool> causal) {
  const Op* op = FindOp(name);
  if (op == nullptr || shapes.size() < op->tensors) return std::nullopt;
  if (op->causal_argument >= 0 && !causal.has_value()) return std::nullopt;
  return op->kernel(shapes, type, causal.value_or(false));
}

std::optional<size_t> CausalArgumentOf(std::string_view name) {
  const Op* op = FindOp(name);
  if (op == nullptr || op->causal_argument < 0) return std::nullopt;
  return static_cast<size_t>(op->causal_argument);
}

std::optional<TensorShapes> ParseShapes(std::string_view text) {
  TensorShapes shapes;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      if (++depth > 2) return std::nullopt;
      if (depth == 2) shapes.emplace_back();
    } else if (c == ']') {
      if (--depth == 0) return shapes;
    } else if (c >= '0' && c <= '9') {
      if (depth != 2) return std::nullopt;
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
      if (error != std::errc() || value > kMaxExtent) return std::nullopt;
      shapes.back().push_back(value);
      i = static_cast<size_t>(end - text.data()) - 1;
    } else if (depth == 0 || (c != ',' && c != ' ')) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace drydock
