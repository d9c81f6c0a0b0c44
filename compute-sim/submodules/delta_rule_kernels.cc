// The kernels of a gated delta net in Megatron-Core (gated_delta_net.py): causal_conv1d, the
// kernels of chunk_gated_delta_rule of flash-linear-attention 0.4, written in Triton, and the norm
// with its gate. Backward computes the corrected keys and values and the states again.
#include "compute-sim/submodules/kernel_list.h"

namespace drydock {
namespace {

using K = KernelKind;
using D = submodule::DeltaRule;

constexpr double kFp32 = 4;
constexpr int64_t kFp32Element = 4;

class DeltaKernels {
 public:
  DeltaKernels(const D& s, KernelList* list)
      : s_(s),
        list_(*list),
        chunks_((s.rows + s.chunk - 1) / s.chunk),
        half_((s.chunk + 1) / 2),
        element_(SizeOf(list->type).count()) {}

  void Forward() {
    list_.Memory(K::kCausalConv, s_.rows, s_.convolved());
    NormKeys(K::kFusedNorm, 2 * list_.e);
    RepeatKeys();
    SumDecays();
    Product(s_.chunk, s_.chunk, s_.head_dim, kFp32Element);  // keys with keys
    Product(s_.chunk, s_.chunk, s_.chunk, element_);         // the inverse of that
    CorrectAndPass();
    // The output: from the state before the chunk, and from its scores with its earlier tokens.
    Scores(s_.head_dim);
    Product(s_.chunk, s_.value_dim, s_.head_dim + half_, element_);
    list_.Memory(K::kFusedNorm, s_.rows * s_.heads, s_.value_dim, 3 * list_.e);
  }

  void Backward() {
    list_.Memory(K::kFusedNormBackward, s_.rows * s_.heads, s_.value_dim, 5 * list_.e);
    list_.Fp32(K::kNormParameters, list_.assumptions.fused_norm_partial_sums, s_.value_dim);
    CorrectAndPass();
    Scores(s_.head_dim);
    Product(s_.chunk, s_.value_dim, half_, element_);  // of the values, inside the chunk
    Product(s_.chunk, s_.value_dim, s_.head_dim, element_);
    Product(s_.head_dim, s_.value_dim, 2 * s_.chunk, element_);  // of the states
    Scores(s_.value_dim);
    Product(s_.chunk, s_.head_dim, 3 * s_.value_dim + 2 * half_, element_);  // of the keys
    // Through the correction and the inverse.
    const int64_t both = s_.head_dim + s_.value_dim;
    Product(s_.chunk, both, 2 * s_.chunk, element_);
    Scores(both + 2 * s_.chunk);
    SumDecays();
    RepeatKeys();
    NormKeys(K::kFusedNormBackward, 3 * list_.e);
    list_.Memory(K::kCausalConvBackward, s_.rows, s_.convolved());
  }

 private:
  // A product of every head and chunk.
  void Product(int64_t m, int64_t n, int64_t k, int64_t result_bytes) {
    list_.Add(ChunkProduct(
        list_.type,
        {.batch = chunks_ * s_.heads, .m = m, .n = n, .k = k, .result_bytes = result_bytes}));
  }
  // The lower triangle of a product of tokens with tokens, which stays in the kernel.
  void Scores(int64_t k) { Product(s_.chunk, half_, k, 0); }

  // Corrects keys and values by the inverse. Then, chunk by chunk, subtracts what the state already
  // predicts from the values and adds the rest to the state.
  void CorrectAndPass() {
    Product(s_.chunk, s_.head_dim + s_.value_dim, s_.chunk, element_);
    Product(s_.chunk, s_.value_dim, s_.head_dim, element_);
    Product(s_.head_dim, s_.value_dim, s_.chunk, element_);
  }

  // Queries and keys: normalized per head, and copied for the heads of values that share them, or
  // the gradients of these copies summed.
  void NormKeys(K kind, double bytes) {
    for (int i = 0; i < 2; ++i) list_.Memory(kind, s_.rows * s_.kv_heads, s_.head_dim, bytes);
  }
  void RepeatKeys() {
    for (int i = 0; i < 2; ++i) list_.Memory(K::kCopy, s_.rows, s_.heads * s_.head_dim);
  }
  // The decay of each token and head, and the sums of the decays of a chunk.
  void SumDecays() {
    list_.Fp32(K::kElementwise, s_.rows, s_.heads);
    list_.Memory(K::kRowReduce, s_.rows, s_.heads, 2 * kFp32);
  }

  const D& s_;
  KernelList& list_;
  const int64_t chunks_;
  const int64_t half_;  // the mean number of earlier tokens of the chunk
  const int64_t element_;
};

}  // namespace

void ListKernels(const D& s, KernelList* list) {
  DeltaKernels kernels(s, list);
  if (list->forward()) return kernels.Forward();
  kernels.Backward();
}

}  // namespace drydock
