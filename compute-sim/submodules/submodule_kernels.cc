#include "compute-sim/submodules/submodule_kernels.h"

#include "compute-sim/submodules/kernel_list.h"
#include "compute-sim/submodules/submodule_extents.h"

namespace drydock {

using K = KernelKind;
using List = KernelList;

namespace {

// torchao multiplies operands with scales of rows without promotion in both passes (config.py).
Kernel WithScales(const submodule::Linear& s, Kernel gemm) {
  if (!s.row_scales) return gemm;
  gemm.promoted = false;
  gemm.row_scaled = true;
  return gemm;
}

}  // namespace

void ListKernels(const submodule::Linear& s, List* list) {
  const DataType type = list->gemm_type;
  const bool quantized = IsQuantized(type);
  if (list->forward()) {
    if (quantized && !s.fp8_input) list->Quantize(s.rows, s.k, s.search_input);
    list->Add(WithScales(s, Gemm(type, s.rows, s.n, s.k)));
    // A fused GEMM adds the bias itself.
    if (s.bias && !s.fused) list->Memory(K::kBiasAdd, s.rows, s.n);
  }
  if (list->activation_gradient()) {
    if (quantized && !s.fp8_gradient) list->Quantize(s.rows, s.n, s.search_gradient);
    list->Add(WithScales(s, OfBackward(Gemm(type, s.rows, s.k, s.n))));
  }
  if (list->weight_gradient()) {
    const int64_t element = MainGradientElement(s);
    const bool turns = quantized && (s.always_turns || list->NeedsTranspose(type));
    if (turns && s.fp8_input) list->Turn(s.rows, s.k);
    if (turns && s.fp8_gradient) list->Turn(s.rows, s.n);
    list->Add(WithScales(s, OfBackward(element > 0 ? GemmAccumulate(type, s.n, s.k, s.rows, element)
                                                   : Gemm(type, s.n, s.k, s.rows))));
    if (s.bias) list->Memory(K::kBiasGradient, s.rows, s.n);
  }
}

namespace {

// The share of the scores that a causal mask removes.
double Masked(const submodule::Attention& s) {
  return s.causal ? 0.5 * static_cast<double>(s.sequence) / static_cast<double>(s.keys()) : 0;
}

// Copies the gradients of queries, keys and values into one tensor.
void JoinGradients(const submodule::Attention& s, List* list) {
  const int64_t keys = s.keys(), kv_width = s.kv_heads * (s.head_dim + s.value_width());
  if (keys == s.sequence) {
    list->Memory(K::kCopy, s.batch * keys, s.heads * s.head_dim + kv_width);
  } else {
    list->Memory(K::kCopy, s.batch * s.sequence, s.heads * s.head_dim);
    list->Memory(K::kCopy, s.batch * keys, kv_width);
  }
}

// Megatron's fallback (forward_torch_softmax of fused_softmax.py): PyTorch's operators, in fp32
// over all scores. The mask has one byte per score.
void ComposedSoftmax(const submodule::Attention& s, List* list) {
  const int64_t rows = s.batch * s.heads * s.sequence, keys = s.keys();
  constexpr double kMask = 1;
  const double scale = *UsualBytesPerElement(K::kElementwise, DataType::kFp32);
  if (list->forward()) {
    list->Memory(K::kCast, rows, keys);
    list->Memory(K::kElementwise, rows, keys, scale);
    list->Memory(K::kElementwise, rows, keys, scale + kMask);
    list->Fp32(K::kSoftmax, rows, keys);
    list->Memory(K::kCast, rows, keys);
    return;
  }
  list->Memory(K::kCast, rows, keys);
  list->Fp32(K::kSoftmaxBackward, rows, keys);
  list->Memory(K::kElementwise, rows, keys, scale + kMask);
  list->Memory(K::kElementwise, rows, keys, scale);
  list->Memory(K::kCast, rows, keys);
}

void Softmax(const submodule::Attention& s, List* list) {
  if (s.composes_softmax()) return ComposedSoftmax(s, list);
  const int64_t rows = s.batch * s.heads * s.sequence;
  if (list->forward()) {
    list->Memory(s.causal ? K::kCausalSoftmax : K::kSoftmax, rows, s.keys(),
                 (2 - Masked(s)) * list->e);
  } else {
    list->Memory(s.causal ? K::kCausalSoftmaxBackward : K::kSoftmaxBackward, rows, s.keys(),
                 (3 - 2 * Masked(s)) * list->e);
  }
}

// The kernels of 2022: every score passes through memory several times. The softmax under a causal
// mask reads the lower triangle only and writes everything; dropout keeps a mask of one byte.
void UnfusedAttentionForward(const submodule::Attention& s, List* list) {
  const int64_t batch = s.batch * s.heads, length = s.sequence, rows = batch * length;
  const int64_t keys = s.keys(), value = s.value_width();
  if (s.kv_heads < s.heads) {  // keys and values are repeated for every query head
    list->Memory(K::kCopy, s.batch * keys, s.heads * (s.head_dim + value));
  }
  list->Add(BatchedGemm(list->type, batch, length, keys, s.head_dim));
  Softmax(s, list);
  if (s.dropout) list->Memory(K::kDropout, rows, keys);
  list->Add(BatchedGemm(list->type, batch, length, value, keys));
  list->Memory(K::kCopy, s.batch * length, s.heads * value);  // heads side by side
}

void UnfusedAttentionBackward(const submodule::Attention& s, List* list) {
  const int64_t batch = s.batch * s.heads, length = s.sequence, rows = batch * length;
  const int64_t keys = s.keys(), value = s.value_width();
  list->Add(BatchedGemm(list->type, batch, length, keys, value));  // of the probabilities
  list->Add(BatchedGemm(list->type, batch, keys, value, length));  // of the values
  if (s.dropout) list->Memory(K::kDropoutBackward, rows, keys);
  Softmax(s, list);
  list->Add(BatchedGemm(list->type, batch, length, s.head_dim, keys));  // of the queries
  list->Add(BatchedGemm(list->type, batch, keys, s.head_dim, length));  // of the keys
  if (s.kv_heads < s.heads) {
    list->Memory(K::kCopy, s.batch * keys, s.heads * (s.head_dim + value));
  }
  JoinGradients(s, list);
}

}  // namespace

void ListKernels(const submodule::Attention& s, List* list) {
  if (s.fused) {
    const AttentionShape shape{s.batch,    s.sequence, s.heads,       s.kv_heads,
                               s.head_dim, s.causal,   s.kv_sequence, s.value_dim};
    list->Add(Attention(list->forward() ? K::kAttentionForward : K::kAttentionBackward,
                        list->gemm_type, shape));
  } else if (list->forward()) {
    UnfusedAttentionForward(s, list);
  } else {
    UnfusedAttentionBackward(s, list);
  }
}

namespace {

// An unfused RMS norm: one kernel per operator, in fp32, as PyTorch composes it
// (rms_norm_composite in its ATen/native/layer_norm.cpp) and as autograd reverses it. Operands of
// one number per row do not count as traffic; their kernels count as launches.
void ComposedRmsNorm(const submodule::Norm& s, List* list) {
  constexpr double kRead = 4;  // a row-reduce in fp32
  const double three_operands = *UsualBytesPerElement(K::kAdd, DataType::kFp32);
  const auto usual = [&](K kind) { list->Memory(kind, s.rows, s.n); };
  const auto fp32 = [&](K kind) { list->Fp32(kind, s.rows, s.n); };
  const auto bytes = [&](K kind, double each) { list->Memory(kind, s.rows, s.n, each); };
  const auto one_number_per_row = [&] { list->Fp32(K::kElementwise, s.rows, 1); };
  if (list->forward()) {
    usual(K::kCast);
    fp32(K::kElementwise);        // the square
    bytes(K::kRowReduce, kRead);  // the mean of the squares
    one_number_per_row();         // plus epsilon
    one_number_per_row();         // the inverse of the root
    fp32(K::kElementwise);        // times the inverse
    fp32(K::kElementwise);        // times the weight
    usual(K::kCast);
    return;
  }
  usual(K::kCast);
  fp32(K::kElementwise);                   // through the weight
  bytes(K::kElementwise, three_operands);  // to the weight,
  fp32(K::kBiasGradient);                  // over all rows
  fp32(K::kElementwise);                   // through the inverse of the root
  bytes(K::kElementwise, three_operands);  // to the inverse,
  bytes(K::kRowReduce, kRead);             // over each row
  one_number_per_row();                    // through the root
  fp32(K::kFill);                          // through the mean: every element the same
  fp32(K::kElementwise);                   // through the square
  bytes(K::kElementwise, three_operands);
  fp32(K::kAdd);  // the two gradients of the input
  usual(K::kCast);
}

}  // namespace

void ListKernels(const submodule::Norm& s, List* list) {
  if (s.rms && !s.fused) return ComposedRmsNorm(s, list);
  if (list->forward()) {
    list->Memory(s.fused ? K::kFusedNorm : K::kLayerNorm, s.rows, s.n);
    return;
  }
  list->Memory(s.fused ? K::kFusedNormBackward : K::kLayerNormBackward, s.rows, s.n);
  // A fused norm leaves partial sums of the gradients of its parameters: only these are added up.
  if (s.fused)
    list->Fp32(K::kNormParameters, list->assumptions.fused_norm_partial_sums, s.n);
  else
    list->Memory(K::kNormParameters, s.rows, s.n);
}

// Backward: through the dropout, and the gradient of the bias. The sum of the gradients of branch
// and residual is a separate submodule (Add).
void ListKernels(const submodule::BiasDropoutAdd& s, List* list) {
  if (list->forward()) {
    if (s.dropout)
      list->Memory(K::kBiasDropoutAdd, s.rows, s.n);
    else
      list->Memory(K::kBiasDropoutAdd, s.rows, s.n, 3 * list->e);  // no mask is written
    return;
  }
  if (s.dropout) list->Memory(K::kDropoutBackward, s.rows, s.n);
  if (s.bias) list->Memory(K::kBiasGradient, s.rows, s.n);
}

// PyTorch's clamp_backward compares the input with each bound, which writes a byte of mask, joins
// two masks, and picks gradients by the mask. The gate, the first half, has an upper bound only.
// Last, the gradients of both halves are joined.
void ClampBackward(const submodule::Activation& s, List* list) {
  constexpr double kMask = 1;
  const auto half = [&](int bounds) {
    for (int i = 0; i < bounds; ++i) list->Memory(K::kElementwise, s.rows, s.n, list->e + kMask);
    if (bounds == 2) list->Memory(K::kElementwise, s.rows, s.n, 3 * kMask);
    list->Memory(K::kElementwise, s.rows, s.n, 2 * list->e + kMask);
  };
  if (s.gated) half(1);
  half(2);
  if (s.gated) list->Memory(K::kCopy, s.rows, 2 * s.n);
}

void ListKernels(const submodule::Activation& s, List* list) {
  const int halves = s.gated ? 2 : 1;
  const DataType written = s.quantizes ? list->gemm_type : list->type;
  // With blocks of scales, a second copy for the gradient of the weight.
  const double result = OperandBytes(written) * (written == DataType::kMxfp8 ? 2 : 1);
  if (list->forward()) {
    return list->Memory(s.gated ? K::kSwiglu : K::kGelu, s.rows, s.n, halves * list->e + result);
  }
  list->Memory(s.gated ? K::kSwigluBackward : K::kGeluBackward, s.rows, s.n,
               (1 + halves) * list->e + halves * result);
  if (s.clamped) ClampBackward(s, list);
  if (s.bias) list->Memory(K::kBiasGradient, s.rows, s.n);
}

// Unfused (_apply_rotary_pos_emb_bshd of Megatron-Core's rope_utils.py): x cos, the negative of
// half of x, both halves in exchanged order, times sin, the sum, and a copy that joins what does
// not rotate. Backward: both products, the exchange and the negative again, the sum of both
// gradients; what does not rotate fills a gradient of its own, which is added.
void ListKernels(const submodule::Rotary& s, List* list) {
  if (s.fused) return list->Memory(K::kRotary, s.rows, s.n);
  for (int i = 0; i < 2; ++i) list->Memory(K::kElementwise, s.rows, s.n);
  list->Memory(K::kElementwise, s.rows, s.n, list->e);
  list->Memory(K::kCopy, s.rows, s.n);
  list->Memory(K::kAdd, s.rows, s.n);
  if (list->forward()) return list->Memory(K::kCopy, s.rows, s.n);
  list->Memory(K::kFill, s.rows, s.n);
  list->Memory(K::kAdd, s.rows, s.n);
}

// Backward: the gradient of the whole table is zeroed, scattered into, and added to fp32.
void ListKernels(const submodule::Embedding& s, List* list) {
  if (list->forward()) {
    list->Memory(K::kEmbedding, s.rows, s.n);
    if (s.bias) list->Memory(K::kAdd, s.rows, s.n);  // learned positions
    if (s.dropout) list->Memory(K::kDropout, s.rows, s.n);
    return;
  }
  if (s.dropout) list->Memory(K::kDropoutBackward, s.rows, s.n);
  list->Memory(K::kFill, s.k, s.n);
  list->Memory(K::kEmbeddingBackward, s.rows, s.n);
  list->Memory(K::kAccumulate, s.k, s.n);
}

// In fp32 over the rank's slice of the vocabulary: maximum, difference, exponential, sum, quotient.
// One fused kernel computes difference, exponential and sum.
void ListKernels(const submodule::CrossEntropy& s, List* list) {
  constexpr double kRead = 4;  // a row-reduce in fp32
  if (!list->forward()) {
    list->Fp32(K::kElementwise, s.rows, s.n);
    list->Memory(K::kCast, s.rows, s.n);
    return;
  }
  list->Memory(K::kCast, s.rows, s.n);
  list->Memory(K::kRowReduce, s.rows, s.n, kRead);
  list->Fp32(K::kElementwise, s.rows, s.n);
  if (!s.fused) {
    list->Fp32(K::kElementwise, s.rows, s.n);
    list->Memory(K::kRowReduce, s.rows, s.n, kRead);
  }
  list->Fp32(K::kElementwise, s.rows, s.n);
}

void ListKernels(const submodule::Optimizer& s, List* list) {
  list->Memory(K::kAdam, 1, s.elements);
}

void ListKernels(const submodule::GradientScale& s, List* list) {
  list->Memory(K::kScale, 1, s.elements);
}

void ListKernels(const submodule::GradientNorm& s, List* list) {
  list->Memory(K::kSquareSum, 1, s.elements);
}

void ListKernels(const submodule::ZeroCount& s, List* list) {
  list->Memory(K::kSquareSum, 1, s.elements);
}

void ListKernels(const submodule::Cast& s, List* list) { list->Memory(K::kCast, 1, s.elements); }

void ListKernels(const submodule::Add& s, List* list) {
  if (s.accumulate_fp32) return list->Memory(K::kAccumulate, s.rows, s.n);
  if (s.summands == 0) return list->Memory(K::kAdd, s.rows, s.n);
  list->Memory(K::kAdd, s.rows, s.n, (static_cast<double>(s.summands) + 1) * list->e);
}

// Without the scale of earlier steps, the first kernel finds the largest value.
void ListKernels(const submodule::Quantize& s, List* list) {
  list->Quantize(s.rows, s.n, /*searched=*/!s.fused, /*transpose=*/!s.without_transpose);
}

void KernelList::Quantize(int64_t rows, int64_t columns, bool searched, bool transpose) {
  constexpr double kRead = 2;  // 16 bits
  if (searched) Memory(K::kRowReduce, rows, columns, kRead);
  const DataType to = IsQuantized(gemm_type) ? gemm_type : DataType::kFp8;
  const bool both = transpose && NeedsTranspose(to);
  Memory(K::kQuantize, rows, columns, kRead + (both ? 2 : 1) * OperandBytes(to));
}

void KernelList::Turn(int64_t rows, int64_t columns) {
  const double moved = OperandBytes(gemm_type) - (gemm_type == DataType::kMxfp8 ? 1 : 0);
  Memory(K::kCopy, rows, columns, 2 * moved);
}

Fp8Layouts Fp8LayoutsOf(const GpuSpec& gpu) {
  return gpu.takes_any_fp8_layout() ? Fp8Layouts::kAny : Fp8Layouts::kOne;
}

Result<std::vector<Kernel>> KernelsOf(const Submodule& submodule,
                                      const KernelAssumptions& assumptions, Fp8Layouts layouts) {
  RETURN_IF_ERROR(CheckExtents(submodule));
  KernelList list(submodule, assumptions, layouts);
  std::visit([&](const auto& kind) { ListKernels(kind, &list); }, submodule.work);
  return list.kernels;
}

}  // namespace drydock
