#include "workload-gen/memory/working_tensors.h"

#include <algorithm>
#include <numeric>

#include "core/model/sparse_shapes.h"

namespace drydock {
namespace {

// Products of quantized operands write 16 bits.
int64_t OutputSize(DataType type) { return IsQuantized(type) ? 2 : SizeOf(type).count(); }

int64_t Scores(const submodule::Attention& s) { return s.batch * s.heads * s.sequence * s.keys(); }
int64_t Queries(const submodule::Attention& s) {
  return s.batch * s.sequence * s.heads * s.head_dim;
}
int64_t Outputs(const submodule::Attention& s) {
  return s.batch * s.sequence * s.heads * s.value_width();
}
int64_t KeysAndValues(const submodule::Attention& s) {
  return s.batch * s.keys() * s.kv_heads * (s.head_dim + s.value_width());
}

constexpr int64_t kFp32 = 4, kLong = 8;

// Megatron-LM scores this many queries of a sequence at a time for TileLang (the default of
// fused_indexer_block_size in dsa.py).
constexpr int64_t kTileLangRows = 8192;
// cuDNN's top-k has two buffers of 32-bit integers beside the scores (cute_dsl_topk_wrapper in
// cudnn-frontend's indexer_top_k). Megatron-LM calls it for so many rows that they fit in 2 GiB
// (_TOPK_WRAPPER_MAX_SCRATCH_BYTES in dsa_cudnn_kernels.py).
constexpr int64_t kSelectionBytes = 2 * kFp32, kMostSelectionBytes = int64_t{2} << 30;

// The scores of a piece, and the picks of torch.topk in fp32 and as 64- and 32-bit integers. The
// buffers of its radix selection, some percent of the scores, are left out.
int64_t TileLangIndex(const submodule::SparseIndex& s) {
  const int64_t rows = std::min(kTileLangRows, std::max(int64_t{1}, s.rows / s.sequences()));
  return rows * (kFp32 * s.keys + (2 * kFp32 + kLong) * s.most_picked());
}

// The scores, and the buffers of the selection. The slices of one packed sample are scored in
// pieces (_indexer_topk_single_packed_cp_segments).
int64_t CudnnIndex(const submodule::SparseIndex& s) {
  const bool slices = s.sequences() == 1 && s.rows < s.keys;
  const int64_t rows = slices ? s.rows / ScoreChunks(s) : s.rows;
  const int64_t selected =
      std::min(rows, RowsOfChunk(kMostSelectionBytes, kSelectionBytes * s.keys));
  return (kFp32 * rows + kSelectionBytes * selected) * s.keys;
}

// Unfused, each head has scores of all keys, and an operator reads one copy and writes another.
// Head after head, there are three copies of a piece: the sum, and the scores of two heads; then as
// many bytes are the scores and the buffers of the selection.
int64_t IndexForward(const submodule::SparseIndex& s) {
  const int64_t once = kFp32 * s.rows * s.keys;
  if (s.by_heads) return 3 * once / ScoreChunks(s);
  if (!s.fused) return 2 * s.heads * once;
  return s.tilelang ? TileLangIndex(s) : CudnnIndex(s);
}
int64_t IndexBackward(const submodule::SparseIndex& s) {
  if (s.fused && s.picked_only) return kFp32 * 2 * s.rows * s.most_picked();
  return kFp32 * s.rows * s.keys * (s.fused ? 1 : 2 * s.heads);
}

// cuDNN's loss of all keys. _compute_dense_attn_lse has all heads' scores of a piece, their
// multiple, and those of the piece before, beside the scores of the indexer. The last operator of
// _kl_loss_from_dense_scores has eight squares in fp32 and a mask: both scores, the target, the
// scores without masked ones, their logarithm, the terms, zeros, and the terms without masked ones.
int64_t DenseLoss(const submodule::SparseTarget& s) {
  const int64_t square = s.rows * s.keys, heads = kFp32 * square * s.heads;
  const int64_t pieces = heads > kScoreChunkBytes ? 3 * kScoreChunkBytes : 2 * heads;
  return std::max(kFp32 * square + pieces, (8 * kFp32 + 1) * square);
}
int64_t Loss(const submodule::SparseTarget& s) {
  if (!s.fused) return kFp32 * 2 * s.rows * s.heads * s.keys;
  return s.picked_only ? kFp32 * 2 * s.rows * s.most_picked() : DenseLoss(s);
}

TensorSizes Alike(int count, int64_t bytes) {
  return TensorSizes(static_cast<size_t>(count), bytes);
}

class Forward {
 public:
  Forward(int64_t e, const WorkingRules& rules) : e_(e), rules_(rules) {}

  // Unfused, the scores before the softmax, for PyTorch's also in fp32. A ring keeps the result and
  // the keys of each step until it joins the results (AttnFuncWithCPAndKVP2P).
  TensorSizes operator()(const submodule::Attention& s) const {
    const int64_t step = Outputs(s) + (rules_.ring > 1 ? KeysAndValues(s) : 0);
    TensorSizes out(static_cast<size_t>(rules_.ring), e_ * step);
    if (!s.fused) out.push_back(e_ * Scores(s));
    if (s.composes_softmax()) out.push_back(kFp32 * Scores(s));
    return out;
  }
  TensorSizes operator()(const submodule::SparseIndex& s) const { return {IndexForward(s)}; }
  TensorSizes operator()(const submodule::SparseTarget& s) const { return {Loss(s)}; }
  TensorSizes operator()(const submodule::SparseAttention& s) const {
    const int64_t scores = s.fused ? 0 : 4 * s.rows * s.heads * s.keys;
    return {e_ * s.rows * s.heads * s.value_dim, scores, scores};
  }
  TensorSizes operator()(const submodule::BiasDropoutAdd& s) const {
    return Alike(2, e_ * s.rows * s.n);
  }
  TensorSizes operator()(const submodule::Rotary& s) const {
    return Alike(s.fused ? 2 : 3, e_ * s.rows * s.n);
  }
  // The caller holds the logits until the loss returns.
  TensorSizes operator()(const submodule::CrossEntropy& s) const {
    const int64_t logits = e_ * s.rows * s.n, wide = kFp32 * s.rows * s.n;
    switch (rules_.loss) {
      case LossTensors::kGradientInPlace:
      case LossTensors::kCompiled:
        return {};
      case LossTensors::kSoftmax:
        return {logits};
      case LossTensors::kCompiledSoftmax:
      case LossTensors::kEager:  // and the logits in fp32
        return {logits, wide};
      case LossTensors::kEagerSplit:  // and what is left of them without the maximum of a row
        return {logits, wide, wide};
    }
    return {};
  }
  TensorSizes operator()(const submodule::Router& s) const { return Alike(2, 4 * s.rows * s.n); }
  TensorSizes operator()(const submodule::Permute& s) const { return Moved(s); }
  TensorSizes operator()(const submodule::Unpermute& s) const { return Moved(s); }
  TensorSizes operator()(const submodule::Add& s) const { return Alike(2, e_ * s.rows * s.n); }
  template <typename Kind>
  TensorSizes operator()(const Kind& s) const {
    if constexpr (requires { s.rows* s.n; })
      return {e_ * s.rows * s.n};
    else
      return {};
  }

 private:
  TensorSizes Moved(const submodule::TokenMove& s) const {
    return {e_ * s.rows * s.n, e_ * s.rows * s.n * s.top_k};
  }

  const int64_t e_;  // bytes of an element
  const WorkingRules& rules_;
};

class Backward {
 public:
  Backward(int64_t e, const WorkingRules& rules) : e_(e), rules_(rules) {}

  TensorSizes operator()(const submodule::Linear& s) const {
    return {e_ * s.rows * s.n, e_ * s.rows * s.k};
  }
  TensorSizes operator()(const submodule::GroupedLinear& s) const {
    return {e_ * s.rows * s.n, e_ * s.rows * s.k};
  }
  TensorSizes operator()(const submodule::Router& s) const {
    const int64_t scores = 4 * s.rows * s.n, input = e_ * s.rows * s.k;
    return {scores, scores, input, input};
  }
  // Fused, the gradient of queries is summed in fp32; unfused, the gradient of the scores is a
  // tensor, and before dropout another. PyTorch's softmax has three in fp32: on both sides of it
  // and their product with its result (softmax_backward_cuda), once the cast probabilities are
  // free. Keys and their gradients travel around a ring in two buffers each.
  TensorSizes operator()(const submodule::Attention& s) const {
    TensorSizes out = Alike(rules_.ring > 1 ? 4 : 0, e_ * KeysAndValues(s));
    for (const int64_t each : {Outputs(s), Queries(s), KeysAndValues(s)}) out.push_back(e_ * each);
    if (s.fused) {
      out.push_back(4 * Queries(s));
    } else if (s.composes_softmax()) {
      out.push_back((3 * kFp32 - e_) * Scores(s));
    } else {
      out.insert(out.end(), s.dropout ? 2 : 1, e_ * Scores(s));
    }
    return out;
  }
  TensorSizes operator()(const submodule::SparseIndex& s) const {
    return {IndexBackward(s), e_ * s.rows * s.heads * s.head_dim};
  }
  TensorSizes operator()(const submodule::SparseTarget& s) const { return {Loss(s)}; }
  // The gradient of the keys is summed in fp32. Where rows are skipped, queries, output, its
  // gradient and the picks are copied twice.
  TensorSizes operator()(const submodule::SparseAttention& s) const {
    const int64_t queries = s.rows * s.heads * (s.head_dim + s.value_dim);
    const int64_t copied = e_ * PaddedHeads(s) * (s.head_dim + 2 * s.value_dim);
    const int64_t compact = s.skips_rows ? 2 * s.rows * (copied + 4 * s.most_picked()) : 0;
    const int64_t scores = s.fused ? 0 : 4 * s.rows * s.heads * s.keys;
    return {compact, e_ * queries, 4 * s.all_keys() * s.head_dim, scores, scores};
  }
  TensorSizes operator()(const submodule::Activation& s) const {
    const int64_t input = (s.gated ? 2 : 1) * e_ * s.rows * s.n;
    return {e_ * s.rows * s.n, input};
  }
  // The gradient of a table is dense.
  TensorSizes operator()(const submodule::Embedding& s) const { return {e_ * s.rows * s.n}; }
  // The gradient of the logits. nll_loss_backward and log_softmax_backward of PyTorch each write
  // one in fp32; over tensor ranks, _nll_loss_and_log_softmax_backward has three at once.
  TensorSizes operator()(const submodule::CrossEntropy& s) const {
    const int64_t wide = kFp32 * s.rows * s.n;
    switch (rules_.loss) {
      case LossTensors::kGradientInPlace:
        return {};
      case LossTensors::kEager:
        return {wide, wide};
      case LossTensors::kEagerSplit:
        return {wide, wide, wide};
      default:
        return {e_ * s.rows * s.n};
    }
  }
  TensorSizes operator()(const submodule::Permute& s) const { return Moved(s); }
  TensorSizes operator()(const submodule::Unpermute& s) const { return Moved(s); }
  // A weight's gradient exists before it is added; its sum is no new tensor.
  TensorSizes operator()(const submodule::Add& s) const {
    return Alike(s.accumulate_fp32 ? 1 : 2, e_ * s.rows * s.n);
  }
  template <typename Kind>
  TensorSizes operator()(const Kind& s) const {
    if constexpr (requires { s.rows* s.n; })
      return Alike(2, e_ * s.rows * s.n);
    else
      return {};
  }

 private:
  TensorSizes Moved(const submodule::TokenMove& s) const {
    return {e_ * s.rows * s.n, e_ * s.rows * s.n * s.top_k};
  }

  const int64_t e_;
  const WorkingRules& rules_;
};

int64_t WeightElements(const Submodule& s) {
  if (const auto* linear = s.As<submodule::Linear>()) {
    return linear->accumulate_fp32 || linear->accumulate_half ? 0 : linear->n * linear->k;
  }
  if (const auto* grouped = s.As<submodule::GroupedLinear>()) {
    const bool fused = grouped->accumulate_fp32 || grouped->accumulate_half;
    return fused ? 0 : grouped->experts * grouped->n * grouped->k;
  }
  if (const auto* table = s.As<submodule::Embedding>()) return table->k * table->n;
  return 0;
}

}  // namespace

int64_t TotalOf(const TensorSizes& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), int64_t{0});
}

TensorSizes WorkingForward(const Submodule& forward, const WorkingRules& rules) {
  return std::visit(Forward(OutputSize(forward.type), rules), forward.work);
}

TensorSizes WorkingBackward(const Submodule& backward, const WorkingRules& rules) {
  TensorSizes out = std::visit(Backward(OutputSize(backward.type), rules), backward.work);
  out.push_back(WeightGradientOf(backward, rules).count());
  return out;
}

Bytes WeightGradientOf(const Submodule& backward, const WorkingRules& rules) {
  const bool weight = backward.pass == Pass::kBackwardWeight || backward.pass == Pass::kBackward;
  if (!rules.weight_gradients || !weight) return Bytes();
  return Bytes(WeightElements(backward) * OutputSize(backward.type));
}

}  // namespace drydock
