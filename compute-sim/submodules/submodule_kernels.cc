#include "compute-sim/submodules/submodule_kernels.h"

#include "compute-sim/kernel/kernel_list.h"
#include "compute-sim/submodules/submodule_extents.h"
#include "core/model/attention_extents.h"

namespace drydock {
namespace {

using K = KernelKind;
using List = KernelList;

void Linear(const Submodule& s, List* list) {
  const bool fp8 = s.type == DataType::kFp8;
  const bool backward = Is(s, Pass::kBackward);
  if (IsForward(s)) {
    if (fp8 && !s.fp8_input) list->Memory(K::kQuantise, s.rows, s.k, kQuantiseBytes);
    list->Add(Gemm(s.type, s.rows, s.n, s.k));
    // A fused product adds the bias on its way out.
    if (s.bias && !s.fused) list->Memory(K::kBiasAdd, s.rows, s.n, 2 * list->e);
  }
  if (backward || Is(s, Pass::kBackwardActivation)) {
    if (fp8 && !s.fp8_gradient) list->Memory(K::kQuantise, s.rows, s.n, kQuantiseBytes);
    list->Add(OfBackward(Gemm(s.type, s.rows, s.k, s.n)));
  }
  if (backward || Is(s, Pass::kBackwardWeight)) {
    const int64_t element = MainGradientElement(s);
    if (fp8 && s.fp8_input) list->Memory(K::kCopy, s.rows, s.k, kTurnBytes);
    if (fp8 && s.fp8_gradient) list->Memory(K::kCopy, s.rows, s.n, kTurnBytes);
    list->Add(OfBackward(element > 0 ? GemmAccumulate(s.type, s.n, s.k, s.rows, element)
                                     : Gemm(s.type, s.n, s.k, s.rows)));
    if (s.bias) list->Memory(K::kBiasGradient, s.rows, s.n, list->e);
  }
}

// The share of the scores that a causal mask cuts off.
double Masked(const Submodule& s) {
  return s.causal ? 0.5 * static_cast<double>(s.sequence) / static_cast<double>(KeysOf(s)) : 0;
}

// The gradients of queries, keys and values are put side by side again.
void PutGradientsTogether(const Submodule& s, List* list) {
  const int64_t keys = KeysOf(s), kv_width = s.kv_heads * (s.head_dim + ValueDimOf(s));
  if (keys == s.sequence) {
    list->Memory(K::kCopy, s.batch * keys, s.heads * s.head_dim + kv_width, 2 * list->e);
  } else {
    list->Memory(K::kCopy, s.batch * s.sequence, s.heads * s.head_dim, 2 * list->e);
    list->Memory(K::kCopy, s.batch * keys, kv_width, 2 * list->e);
  }
}

// Megatron's fused softmax works on four rows of scores at a time, and takes no other number of
// heads and queries (is_kernel_available in its megatron/model/fused_softmax.py).
bool SoftmaxIsFused(const Submodule& s) {
  return (s.batch * s.heads) % 4 == 0 && s.sequence % 4 == 0;
}

// What it does instead (forward_torch_softmax there): PyTorch's operators, in fp32 over all scores.
void ComposedSoftmax(const Submodule& s, List* list) {
  const int64_t rows = s.batch * s.heads * s.sequence;
  const auto add = [&](K kind, double bytes) { list->Memory(kind, rows, KeysOf(s), bytes); };
  if (IsForward(s)) {
    add(K::kCast, list->e + 4);
    add(K::kElementwise, 8);  // scaled
    add(K::kElementwise, 9);  // masked
    add(K::kSoftmax, 8);
    add(K::kCast, 4 + list->e);
    return;
  }
  add(K::kCast, list->e + 4);
  add(K::kSoftmaxBackward, 12);
  add(K::kElementwise, 9);
  add(K::kElementwise, 8);
  add(K::kCast, 4 + list->e);
}

void Softmax(const Submodule& s, List* list) {
  if (!SoftmaxIsFused(s)) return ComposedSoftmax(s, list);
  const int64_t rows = s.batch * s.heads * s.sequence;
  if (IsForward(s)) {
    list->Memory(s.causal ? K::kCausalSoftmax : K::kSoftmax, rows, KeysOf(s),
                 (2 - Masked(s)) * list->e);
  } else {
    list->Memory(s.causal ? K::kCausalSoftmaxBackward : K::kSoftmaxBackward, rows, KeysOf(s),
                 (3 - 2 * Masked(s)) * list->e);
  }
}

// The 2022 kernels: every score goes through memory several times. The softmax under a causal mask
// reads the lower triangle only and writes everything; dropout keeps a mask of one byte.
void UnfusedAttentionForward(const Submodule& s, List* list) {
  const int64_t batch = s.batch * s.heads, length = s.sequence, rows = batch * length;
  const int64_t keys = KeysOf(s), value = ValueDimOf(s);
  const double e = list->e;
  if (s.kv_heads < s.heads) {  // keys and values repeated for every query head
    list->Memory(K::kCopy, s.batch * keys, s.heads * (s.head_dim + value), 2 * e);
  }
  list->Add(BatchedGemm(list->type, batch, length, keys, s.head_dim));
  Softmax(s, list);
  if (s.dropout) list->Memory(K::kDropout, rows, keys, 2 * e + 1);
  list->Add(BatchedGemm(list->type, batch, length, value, keys));
  list->Memory(K::kCopy, s.batch * length, s.heads * value, 2 * e);  // heads side by side
}

void UnfusedAttentionBackward(const Submodule& s, List* list) {
  const int64_t batch = s.batch * s.heads, length = s.sequence, rows = batch * length;
  const int64_t keys = KeysOf(s), value = ValueDimOf(s);
  const double e = list->e;
  list->Add(BatchedGemm(list->type, batch, length, keys, value));  // of the probabilities
  list->Add(BatchedGemm(list->type, batch, keys, value, length));  // of the values
  if (s.dropout) list->Memory(K::kDropoutBackward, rows, keys, 2 * e + 1);
  Softmax(s, list);
  list->Add(BatchedGemm(list->type, batch, length, s.head_dim, keys));  // of the queries
  list->Add(BatchedGemm(list->type, batch, keys, s.head_dim, length));  // of the keys
  if (s.kv_heads < s.heads) {
    list->Memory(K::kCopy, s.batch * keys, s.heads * (s.head_dim + value), 2 * e);
  }
  PutGradientsTogether(s, list);
}

void AttentionCore(const Submodule& s, List* list) {
  if (s.fused) {
    const AttentionShape shape{s.batch,    s.sequence, s.heads,       s.kv_heads,
                               s.head_dim, s.causal,   s.kv_sequence, s.value_dim};
    list->Add(
        Attention(IsForward(s) ? K::kAttentionForward : K::kAttentionBackward, list->type, shape));
  } else if (IsForward(s)) {
    UnfusedAttentionForward(s, list);
  } else {
    UnfusedAttentionBackward(s, list);
  }
}

// An RMS norm operator by operator, in fp32, as PyTorch composes it where nobody fuses it
// (rms_norm_composite in its ATen/native/layer_norm.cpp) and as autograd takes it back. What has
// one number a row is left out of the traffic, not of the launches.
void ComposedRmsNorm(const Submodule& s, List* list) {
  const double e = list->e;
  const auto add = [&](K kind, double bytes) { list->Memory(kind, s.rows, s.n, bytes); };
  const auto a_number_a_row = [&] { list->Memory(K::kElementwise, s.rows, 1, 8); };
  if (IsForward(s)) {
    add(K::kCast, e + 4);
    add(K::kElementwise, 8);  // the square
    add(K::kRowReduce, 4);    // its mean
    a_number_a_row();         // and epsilon
    a_number_a_row();         // the root's inverse
    add(K::kElementwise, 8);  // times that
    add(K::kElementwise, 8);  // times the weight
    add(K::kCast, 4 + e);
    return;
  }
  add(K::kCast, e + 4);
  add(K::kElementwise, 8);   // through the weight
  add(K::kElementwise, 12);  // to the weight,
  add(K::kBiasGradient, 4);  // over all rows
  add(K::kElementwise, 8);   // through the root's inverse
  add(K::kElementwise, 12);  // to it,
  add(K::kRowReduce, 4);     // over each row
  a_number_a_row();          // through the root
  add(K::kFill, 4);          // through the mean: every element the same
  add(K::kElementwise, 8);   // through the square
  add(K::kElementwise, 12);
  add(K::kAdd, 12);  // both ways to the input
  add(K::kCast, 4 + e);
}

void Norm(const Submodule& s, List* list) {
  const double e = list->e;
  if (s.rms && !s.fused) return ComposedRmsNorm(s, list);
  if (IsForward(s)) {
    list->Memory(s.fused ? K::kFusedNorm : K::kLayerNorm, s.rows, s.n, 2 * e);
    return;
  }
  list->Memory(s.fused ? K::kFusedNormBackward : K::kLayerNormBackward, s.rows, s.n, 3 * e);
  // A fused norm sums its parameters' gradients on the way and has only the parts to add up.
  list->Memory(K::kNormParameters, s.fused ? 256 : s.rows, s.n, s.fused ? 8 : 2 * e);
}

// Forward: x, residual, result and, with dropout, the mask. Backward: through the dropout, and the
// bias's gradient; the sum where the residual branched off is a submodule of its own (kAdd).
void BiasDropoutAdd(const Submodule& s, List* list) {
  const double e = list->e;
  if (IsForward(s)) {
    list->Memory(K::kBiasDropoutAdd, s.rows, s.n, 3 * e + (s.dropout ? 1 : 0));
    return;
  }
  if (s.dropout) list->Memory(K::kDropoutBackward, s.rows, s.n, 2 * e + 1);
  if (s.bias) list->Memory(K::kBiasGradient, s.rows, s.n, e);
}

void Activation(const Submodule& s, List* list) {
  const double e = list->e;
  if (IsForward(s)) {
    list->Memory(s.gated ? K::kSwiglu : K::kGelu, s.rows, s.n, (s.gated ? 3 : 2) * e);
    return;
  }
  list->Memory(s.gated ? K::kSwigluBackward : K::kGeluBackward, s.rows, s.n, (s.gated ? 5 : 3) * e);
  if (s.bias) list->Memory(K::kBiasGradient, s.rows, s.n, e);
}

// Unfused: x cos, the rotated halves, times sin, the sum.
void Rotary(const Submodule& s, List* list) {
  const double e = list->e;
  if (s.fused) {
    list->Memory(K::kRotary, s.rows, s.n, 2 * e);
    return;
  }
  for (int i = 0; i < 3; ++i) list->Memory(K::kElementwise, s.rows, s.n, 2 * e);
  list->Memory(K::kAdd, s.rows, s.n, 3 * e);
}

// Backward: the table's gradient is made whole (zeroed, scattered into) and then added to fp32.
void Embedding(const Submodule& s, List* list) {
  const double e = list->e;
  if (IsForward(s)) {
    list->Memory(K::kEmbedding, s.rows, s.n, 2 * e);
    if (s.bias) list->Memory(K::kAdd, s.rows, s.n, 3 * e);  // learned positions
    if (s.dropout) list->Memory(K::kDropout, s.rows, s.n, 2 * e + 1);
    return;
  }
  if (s.dropout) list->Memory(K::kDropoutBackward, s.rows, s.n, 2 * e + 1);
  list->Memory(K::kFill, s.k, s.n, e);
  list->Memory(K::kEmbeddingBackward, s.rows, s.n, 3 * e);
  list->Memory(K::kAccumulate, s.k, s.n, e + 8);
}

// In fp32 over the rank's slice of the vocabulary: maximum, difference, exponential, sum, quotient;
// a fused one makes difference, exponential and sum in one go.
void CrossEntropy(const Submodule& s, List* list) {
  const double e = list->e;
  if (!IsForward(s)) {
    list->Memory(K::kElementwise, s.rows, s.n, 8);
    list->Memory(K::kCast, s.rows, s.n, 4 + e);
    return;
  }
  list->Memory(K::kCast, s.rows, s.n, 4 + e);
  list->Memory(K::kRowReduce, s.rows, s.n, 4);
  list->Memory(K::kElementwise, s.rows, s.n, 8);
  if (!s.fused) {
    list->Memory(K::kElementwise, s.rows, s.n, 8);
    list->Memory(K::kRowReduce, s.rows, s.n, 4);
  }
  list->Memory(K::kElementwise, s.rows, s.n, 8);
}

void AddKernels(const Submodule& s, List* list) {
  switch (s.kind) {
    case SubmoduleKind::kLinear:
      return Linear(s, list);
    case SubmoduleKind::kAttention:
      return AttentionCore(s, list);
    case SubmoduleKind::kNorm:
      return Norm(s, list);
    case SubmoduleKind::kBiasDropoutAdd:
      return BiasDropoutAdd(s, list);
    case SubmoduleKind::kActivation:
      return Activation(s, list);
    case SubmoduleKind::kRotary:
      return Rotary(s, list);
    case SubmoduleKind::kEmbedding:
      return Embedding(s, list);
    case SubmoduleKind::kCrossEntropy:
      return CrossEntropy(s, list);
    // fp32 gradient, parameter and two moments read; the last three written.
    case SubmoduleKind::kOptimizer:
      return list->Memory(K::kAdam, 1, s.elements, 28);
    case SubmoduleKind::kGradientScale:
      return list->Memory(K::kScale, 1, s.elements, 2 * list->e);
    case SubmoduleKind::kGradientNorm:
      return list->Memory(K::kSquareSum, 1, s.elements, list->e);
    case SubmoduleKind::kCast:
      return list->Memory(K::kCast, 1, s.elements, 4 + list->e);
    case SubmoduleKind::kAdd:
      if (s.accumulate_fp32) return list->Memory(K::kAccumulate, s.rows, s.n, list->e + 8);
      return list->Memory(K::kAdd, s.rows, s.n,
                          (s.top_k > 0 ? static_cast<double>(s.top_k) + 1 : 3) * list->e);
    case SubmoduleKind::kRouter:
      return RouterKernels(s, list);
    case SubmoduleKind::kTopK:
      return TopKKernels(s, list);
    case SubmoduleKind::kPermute:
      return PermuteKernels(s, list);
    case SubmoduleKind::kUnpermute:
      return UnpermuteKernels(s, list);
    case SubmoduleKind::kGroupedLinear:
      return GroupedLinearKernels(s, list);
    case SubmoduleKind::kQuantise:
      return QuantiseKernels(s, list);
    case SubmoduleKind::kGiven:
    case SubmoduleKind::kCounted:
      return;
  }
}

}  // namespace

Result<std::vector<Kernel>> KernelsOf(const Submodule& submodule) {
  RETURN_IF_ERROR(CheckExtents(submodule));
  KernelList list(submodule);
  AddKernels(submodule, &list);
  return list.kernels;
}

}  // namespace drydock
