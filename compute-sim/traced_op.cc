#include "compute-sim/traced_op.h"

#include <algorithm>
#include <charconv>

namespace drydock {
namespace {

bool Positive(const std::vector<int64_t>& shape) {
  return !shape.empty() &&
         std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent > 0; });
}

// Rows and columns of a tensor that a kernel works on row by row.
std::optional<Kernel> RowKernel(KernelKind kind, DataType type, const std::vector<int64_t>& shape) {
  if (!Positive(shape)) return std::nullopt;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] > kMostExtent / rows) return std::nullopt;
    rows *= shape[i];
  }
  return MemoryKernel(kind, type, rows, shape.back(), 1);
}

std::optional<Kernel> Product(DataType type, const std::vector<int64_t>& a,
                              const std::vector<int64_t>& b) {
  if (!Positive(a) || !Positive(b) || a.size() != b.size()) return std::nullopt;
  if (a.size() == 2 && a[1] == b[0]) return Gemm(type, a[0], b[1], a[1]);
  if (a.size() == 3 && a[0] == b[0] && a[2] == b[1]) {
    return BatchedGemm(type, a[0], a[1], b[2], a[2]);
  }
  return std::nullopt;
}

// Queries, keys and values of batch x heads x sequence x width.
std::optional<Kernel> FusedAttention(DataType type, const TensorShapes& shapes, bool causal) {
  for (size_t i = 0; i < 3; ++i) {
    if (!Positive(shapes[i]) || shapes[i].size() != 4) return std::nullopt;
  }
  const auto &q = shapes[0], &k = shapes[1], &v = shapes[2];
  if (causal && k[2] < q[2]) return std::nullopt;
  return Attention(KernelKind::kAttentionForward, type,
                   {q[0], q[2], q[1], k[1], q[3], causal, k[2], v[3]});
}

struct Op {
  std::string_view name;
  size_t tensors;  // that it needs
  std::optional<Kernel> (*kernel)(const TensorShapes& shapes, DataType type, bool causal);
};

template <KernelKind kKind>
std::optional<Kernel> OfFirst(const TensorShapes& shapes, DataType type, bool) {
  return RowKernel(kKind, type, shapes[0]);
}

constexpr Op kOps[] = {
    {"aten::mm", 2,
     [](const TensorShapes& s, DataType type, bool) { return Product(type, s[0], s[1]); }},
    {"aten::bmm", 2,
     [](const TensorShapes& s, DataType type, bool) { return Product(type, s[0], s[1]); }},
    {"aten::addmm", 3,
     [](const TensorShapes& s, DataType type, bool) { return Product(type, s[1], s[2]); }},
    {"aten::_scaled_dot_product_flash_attention", 3,
     [](const TensorShapes& s, DataType type, bool causal) {
       return FusedAttention(type, s, causal);
     }},
    {"aten::gelu", 1, OfFirst<KernelKind::kGelu>},
    {"aten::native_layer_norm", 1, OfFirst<KernelKind::kLayerNorm>},
    {"aten::_softmax", 1, OfFirst<KernelKind::kSoftmax>},
};

}  // namespace

std::optional<Kernel> KernelOfOp(std::string_view name, const TensorShapes& shapes, DataType type,
                                 bool causal) {
  for (const Op& op : kOps) {
    if (op.name == name && shapes.size() >= op.tensors) return op.kernel(shapes, type, causal);
  }
  return std::nullopt;
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
      if (error != std::errc() || value > kMostExtent) return std::nullopt;
      shapes.back().push_back(value);
      i = static_cast<size_t>(end - text.data()) - 1;
    } else if (depth == 0 || (c != ',' && c != ' ')) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace drydock
