// The kernels of DeepSeek sparse attention as Megatron-LM @d98e8a64 runs it
// (core/transformer/experimental_attention_variant): PyTorch's operators of dsa.py, the kernels of
// TileLang in ops/, or those of cuDNN and FlashMLA that dsa_cudnn_kernels.py calls.
#include <algorithm>
#include <cmath>

#include "compute-sim/submodules/kernel_list.h"
#include "core/model/sparse_shapes.h"

namespace drydock {
namespace {

using K = KernelKind;

constexpr double kFp32 = 4, kIndex = 8, kPlace = 4, kPick = 1;
constexpr int64_t kFp32Element = 4;
// Rows of a tile of scores: the heads of several queries, if there are few of them.
constexpr int64_t kTile = 128;
// A radix selection of fp32 reads the scores once for each digit of 8 bits, and once to collect the
// best (PyTorch's TensorTopK.cu; cuDNN's kernel is closed and counts the same).
constexpr double kSelectionReads = 5;
// Operators of the loss over its scores, in fp32: log-softmax, logarithm of the target, difference,
// product, sum, masks, and the normalization of the target. TileLang has one kernel for them.
constexpr int kLossOperators = 10, kTileLangLossOperators = 2;
// Operators over the list of picks before attention: masks, and the valid picks in front.
constexpr int kPickOperators = 8;

int64_t Whole(double value) {
  return std::max(int64_t{1}, static_cast<int64_t>(std::llround(value)));
}

class SparseKernels {
 public:
  SparseKernels(const submodule::SparseWork& s, KernelList* list)
      : s_(s), list_(*list), e_(std::llround(list->e)), all_heads_(s.rows * s.heads) {}

 protected:
  // TileLang's kernels run over all places of the list of picks, also over empty ones.
  int64_t picked() const { return s_.tilelang ? s_.most_picked() : Whole(s_.picked()); }
  int64_t seen() const { return Whole(s_.seen()); }

  enum class Keys : uint8_t { kInOrder, kPicked };
  void Product(Keys from, int64_t heads, int64_t keys, int64_t width, int64_t key_bytes,
               int64_t row_bytes) {
    list_.Add(SparseProduct(list_.type, {.rows = s_.rows,
                                         .heads = heads,
                                         .keys = keys,
                                         .width = width,
                                         .key_bytes = key_bytes,
                                         .row_bytes = row_bytes,
                                         .gathered = from == Keys::kPicked}));
  }
  // Queries of one tile share the keys that they load.
  int64_t SharedKeyBytes(int64_t heads) const {
    return std::max(int64_t{1}, s_.head_dim * e_ / std::max(int64_t{1}, kTile / heads));
  }
  // `count` operators of PyTorch in fp32, each a kernel.
  void Fp32Operators(int count, int64_t rows, int64_t columns) {
    for (int i = 0; i < count; ++i) list_.Fp32(K::kElementwise, rows, columns);
  }
  void Sum(int64_t rows, int64_t columns) { list_.Memory(K::kRowReduce, rows, columns, kFp32); }
  void Fp32Gemm(int64_t m, int64_t n, int64_t k) { list_.Add(Gemm(DataType::kFp32, m, n, k)); }
  void Fp32Gemms(int64_t batch, int64_t m, int64_t n, int64_t k) {
    list_.Add(BatchedGemm(DataType::kFp32, batch, m, n, k));
  }
  // A square of minus infinity with zeros at the picks.
  void MaskOfPicks() {
    list_.Fp32(K::kFill, s_.rows, s_.keys);
    list_.Memory(K::kScatter, s_.rows, s_.most_picked(), kIndex + kFp32);
  }
  // masked_softmax of dsa_masking.py.
  void MaskedSoftmax(int64_t rows) {
    list_.Memory(K::kElementwise, rows, s_.keys, 2 * kFp32 + kPick);
    list_.Fp32(K::kSoftmax, rows, s_.keys);
    list_.Memory(K::kElementwise, rows, s_.keys, 2 * kFp32 + kPick);
  }

  const submodule::SparseWork& s_;
  KernelList& list_;
  const int64_t e_;
  const int64_t all_heads_;
};

class IndexKernels : public SparseKernels {
 public:
  IndexKernels(const submodule::SparseIndex& s, KernelList* list)
      : SparseKernels(s, list), picked_only_(s.picked_only), by_heads_(s.by_heads) {}

  void Forward() {
    const int64_t queries = s_.heads * (s_.head_dim * e_ + kFp32Element);
    if (s_.fused && by_heads_) {
      ScoresByHeads();
    } else if (s_.fused) {
      Product(Keys::kInOrder, s_.heads, seen(), s_.head_dim, SharedKeyBytes(s_.heads),
              queries + s_.keys * kFp32Element);
    } else {
      ComposedScores();
      Sum(all_heads_, s_.keys);
      list_.Memory(K::kElementwise, s_.rows, s_.keys, 3 * kFp32);  // the causal mask
    }
    const double share = static_cast<double>(s_.most_picked()) / static_cast<double>(s_.keys);
    list_.Memory(K::kTopK, s_.rows, s_.keys, kSelectionReads * kFp32 + share * (kFp32 + kIndex));
    list_.Operators(2, s_.rows, s_.most_picked());  // picks of keys that are masked are none
  }

  // The kernels compute the scores again. Gradients of keys are added up in fp32, one pick after
  // another.
  void Backward() {
    if (!s_.fused) return ComposedBackward();
    const int64_t queries = 2 * s_.heads * (s_.head_dim * e_ + kFp32Element);
    const int64_t keys = picked_only_ ? picked() : seen();
    const int64_t load =
        picked_only_ ? s_.head_dim * (e_ + kFp32Element) : 2 * SharedKeyBytes(s_.heads);
    Product(picked_only_ ? Keys::kPicked : Keys::kInOrder, s_.heads, keys, 3 * s_.head_dim, load,
            queries + 3 * keys * kFp32Element);
    list_.Memory(K::kCast, s_.all_keys(), s_.head_dim);
    list_.Operators(1, s_.rows, s_.heads * s_.head_dim);  // times the gradient of the loss
  }

 private:
  // The product, its positive part, and that times the weights of the heads: each passes through
  // memory.
  void ComposedScores() {
    list_.Memory(K::kCast, s_.rows, s_.heads * s_.head_dim);
    list_.Memory(K::kCast, s_.all_keys(), s_.head_dim);
    Fp32Gemm(all_heads_, s_.keys, s_.head_dim);
    Fp32Operators(2, all_heads_, s_.keys);
  }

  // Of each piece of the queries, head after head: the product, its positive part, that times the
  // weights of the head, and the sum, in place. Then the mask.
  void ScoresByHeads() {
    const int64_t chunks = ScoreChunks(s_), products = s_.heads * chunks;
    list_.Memory(K::kCast, s_.all_keys(), s_.head_dim);
    Pieces(K::kFill, chunks, s_.rows, kFp32);
    list_.Memory(K::kCast, all_heads_, s_.head_dim);
    list_.kernels.back().launches = static_cast<int>(products);
    Fp32Gemms(products, (s_.rows + chunks - 1) / chunks, s_.keys, s_.head_dim);
    list_.kernels.back().launches = static_cast<int>(products);
    for (const double bytes : {2 * kFp32, 2 * kFp32, 3 * kFp32}) {
      Pieces(K::kElementwise, products, all_heads_, bytes);
    }
    Pieces(K::kElementwise, chunks, s_.rows, 2 * kFp32 + kPick);
  }
  // A kernel for each of `count` pieces of `rows` rows of scores.
  void Pieces(KernelKind kind, int64_t count, int64_t rows, double bytes) {
    list_.Memory(kind, rows, s_.keys, bytes);
    list_.kernels.back().launches = static_cast<int>(count);
  }

  void ComposedBackward() {
    ComposedScores();
    Fp32Operators(3, s_.rows, s_.keys);  // softmax less target, times the gradient of the loss
    list_.Memory(K::kElementwise, all_heads_, s_.keys, kFp32 + kPick);  // which are positive
    Fp32Operators(1, all_heads_, s_.keys);                              // to the weights
    Sum(all_heads_, s_.keys);
    Fp32Operators(1, all_heads_, s_.keys);  // to the scores
    list_.Memory(K::kElementwise, all_heads_, s_.keys, kFp32 + kPick);
    list_.Memory(K::kElementwise, all_heads_, s_.keys, 3 * kFp32);
    Fp32Gemm(all_heads_, s_.head_dim, s_.keys);
    Fp32Gemm(s_.keys, s_.head_dim, all_heads_);
    list_.Memory(K::kCast, s_.rows, s_.heads * s_.head_dim);
    list_.Memory(K::kCast, s_.all_keys(), s_.head_dim);
  }

  const bool picked_only_, by_heads_;
};

class TargetKernels : public SparseKernels {
 public:
  TargetKernels(const submodule::SparseTarget& s, KernelList* list)
      : SparseKernels(s, list), picked_only_(s.picked_only) {}

  void Forward() {
    if (!s_.fused) return Composed();
    const int64_t queries = s_.heads * s_.head_dim * e_;
    if (picked_only_) {
      // TileLang finds the sum of each softmax first; cuDNN has it from attention.
      const int64_t passes = s_.tilelang ? 2 : 1;
      Product(Keys::kPicked, s_.heads, picked(), passes * s_.head_dim, passes * s_.head_dim * e_,
              queries + picked() * kFp32Element);
      return Fp32Operators(s_.tilelang ? kTileLangLossOperators : kLossOperators, s_.rows,
                           s_.most_picked());
    }
    // cuDNN takes the logarithm of each sum over all keys, which PyTorch computes in fp32: product,
    // scale, mask, and three passes of the sum.
    Fp32Gemm(all_heads_, s_.keys, s_.head_dim);
    Fp32Operators(4, all_heads_, s_.keys);
    Sum(all_heads_, s_.keys);
    Product(Keys::kInOrder, s_.heads, seen(), s_.head_dim, SharedKeyBytes(s_.heads),
            queries + s_.keys * kFp32Element);
    Fp32Operators(kLossOperators, s_.rows, s_.keys);
  }

 private:
  // Each head gets a copy of the keys.
  void Composed() {
    list_.Memory(K::kCast, s_.rows, s_.heads * s_.head_dim);
    list_.Memory(K::kCast, s_.all_keys(), s_.heads * s_.head_dim);
    Fp32Gemms(s_.heads, s_.rows, s_.keys, s_.head_dim);
    Fp32Operators(2, all_heads_, s_.keys);  // scale and mask
    MaskOfPicks();
    if (picked_only_) list_.Memory(K::kElementwise, all_heads_, s_.keys, 2 * kFp32);
    MaskedSoftmax(all_heads_);
    Sum(all_heads_, s_.keys);
    if (list_.forward()) Fp32Operators(kLossOperators, s_.rows, s_.keys);
  }

  const bool picked_only_;
};

class AttentionKernels : public SparseKernels {
 public:
  AttentionKernels(const submodule::SparseAttention& s, KernelList* list)
      : SparseKernels(s, list),
        value_(s.value_dim),
        run_(PaddedHeads(s)),
        skips_rows_(s.skips_rows) {}

  void Forward() {
    if (!s_.fused) return ComposedForward();
    Pad(s_.head_dim);
    list_.Operators(kPickOperators, s_.rows, s_.most_picked());
    Attend();
    Pad(value_);
  }

  // TileLang saves neither output nor sums, and computes both again.
  void Backward() {
    if (!s_.fused) return ComposedBackward();
    if (skips_rows_) {
      PadForBackward();
      CompactRows();
    } else {
      Pad(value_);
    }
    if (s_.tilelang) Attend();
    list_.Memory(K::kRowReduce, s_.rows, run_ * value_, 2 * list_.e);
    list_.Fp32(K::kFill, s_.all_keys(), s_.head_dim);
    Product(Keys::kPicked, run_, picked(), 3 * s_.head_dim + 2 * value_,
            s_.head_dim * (e_ + kFp32Element), 2 * run_ * (s_.head_dim + value_) * e_);
    list_.Memory(K::kCast, s_.all_keys(), s_.head_dim);
    Pad(s_.head_dim);
    if (!skips_rows_) return;
    list_.Memory(K::kFill, s_.rows, s_.heads * s_.head_dim);
    list_.Memory(K::kCopy, s_.rows, s_.heads * s_.head_dim);
  }

 private:
  // Queries, output and its gradient, each with heads of zeros.
  void PadForBackward() {
    for (const int64_t width : {s_.head_dim, value_, value_}) Pad(width);
  }
  // A row of zeros is appended to queries, output, its gradient and the picks, and the rows that
  // picked a key are copied from each.
  void CompactRows() {
    list_.Operators(2, s_.rows, 1);  // which these are
    for (const int64_t width : {s_.head_dim, value_, value_}) {
      list_.Memory(K::kCopy, s_.rows, run_ * width);
      list_.Memory(K::kCopy, s_.rows, run_ * width);
    }
    for (int i = 0; i < 2; ++i) list_.Memory(K::kCopy, s_.rows, s_.most_picked(), 2 * kPlace);
  }

  void Pad(int64_t width) {
    if (run_ != s_.heads) list_.Memory(K::kCopy, s_.rows, run_ * width);
  }
  void Attend() {
    Product(Keys::kPicked, run_, picked(), s_.head_dim + value_, s_.head_dim * e_,
            run_ * (s_.head_dim + value_) * e_);
  }

  // All heads read the same keys and values. Only of several sequences, torch.matmul copies them
  // for each head.
  void ComposedForward() {
    list_.Memory(K::kCast, s_.rows, s_.heads * s_.head_dim);
    list_.Memory(K::kCast, s_.all_keys(), s_.head_dim);
    if (s_.sequences() > 1) list_.Fp32(K::kCopy, s_.all_keys(), s_.heads * s_.head_dim);
    Fp32Gemms(s_.heads, s_.rows, s_.keys, s_.head_dim);
    Fp32Operators(1, all_heads_, s_.keys);  // the scale
    MaskOfPicks();
    list_.Memory(K::kElementwise, all_heads_, s_.keys, 2 * kFp32);
    MaskedSoftmax(all_heads_);
    list_.Memory(K::kCast, all_heads_, s_.keys);
    if (s_.sequences() > 1) list_.Memory(K::kCopy, s_.all_keys(), s_.heads * value_);
    list_.Add(BatchedGemm(list_.type, s_.heads, s_.rows, value_, s_.keys));
    list_.Memory(K::kCopy, s_.rows, s_.heads * value_);
  }

  // The gradients of each head's copy of the keys and values are added up.
  void ComposedBackward() {
    list_.Add(BatchedGemm(list_.type, s_.heads, s_.rows, s_.keys, value_));
    list_.Add(BatchedGemm(list_.type, s_.heads, s_.keys, value_, s_.rows));
    list_.Memory(K::kRowReduce, s_.all_keys(), s_.heads * value_, list_.e);
    list_.Memory(K::kCast, all_heads_, s_.keys);
    list_.Memory(K::kElementwise, all_heads_, s_.keys, 2 * kFp32 + kPick);
    list_.Fp32(K::kSoftmaxBackward, all_heads_, s_.keys);
    Fp32Operators(1, all_heads_, s_.keys);
    Fp32Gemms(s_.heads, s_.rows, s_.head_dim, s_.keys);
    Fp32Gemms(s_.heads, s_.keys, s_.head_dim, s_.rows);
    Sum(s_.all_keys(), s_.heads * s_.head_dim);
    list_.Memory(K::kCast, s_.rows, s_.heads * s_.head_dim);
    list_.Memory(K::kAdd, s_.all_keys(), s_.head_dim);  // as key and as value
  }

  const int64_t value_;
  const int64_t run_;  // heads of the kernels
  const bool skips_rows_;
};

}  // namespace

void ListKernels(const submodule::SparseIndex& s, KernelList* list) {
  IndexKernels kernels(s, list);
  if (list->forward()) return kernels.Forward();
  kernels.Backward();
}

void ListKernels(const submodule::SparseTarget& s, KernelList* list) {
  TargetKernels(s, list).Forward();
}

void ListKernels(const submodule::SparseAttention& s, KernelList* list) {
  AttentionKernels kernels(s, list);
  if (list->forward()) return kernels.Forward();
  kernels.Backward();
}

}  // namespace drydock
