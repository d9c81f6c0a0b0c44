#include "compute-sim/submodules/kernel_list.h"

namespace drydock {

using K = KernelKind;

// Scores for every expert, and their softmax in fp32.
void ListKernels(const submodule::Router& s, KernelList* list) {
  const auto fp32 = static_cast<double>(SizeOf(DataType::kFp32).count());
  const DataType type = list->type;
  if (list->forward()) {
    list->Add(Gemm(type, s.rows, s.n, s.k));
    list->Memory(K::kSoftmax, s.rows, s.n, list->e + fp32);
    return;
  }
  list->Memory(K::kSoftmaxBackward, s.rows, s.n, 2 * fp32 + list->e);
  list->Add(Gemm(type, s.rows, s.k, s.n));
  list->Add(s.accumulate_fp32 ? GemmAccumulate(type, s.n, s.k, s.rows)
                              : Gemm(type, s.n, s.k, s.rows));
}

namespace {

// Operators of Megatron-LM's router (moe_utils.py, topk_routing_with_score_function and
// switch_load_balancing_loss_func) that are not listed one by one: conversions, the second
// kernel of a top-k, the map of picks; for the loss, a second softmax, top-k and map, sums, and the
// tracker of losses. Of the dispatchers: the tokens of each expert, here and elsewhere, and the
// sizes of messages (token_dispatcher.py, preprocess).
constexpr int kRouting = 6, kRoutingBackward = 2;
constexpr int kLoss = 16, kLossBackward = 7;
constexpr int kCounts = 10;
// Transformer Engine's fused router has one kernel, and two for the loss.
constexpr int kFusedLoss = 2;

void ListLoss(const submodule::TopK& s, KernelList* list) {
  if (!s.aux_loss) return;
  const int operators = s.fused ? kFusedLoss : list->forward() ? kLoss : kLossBackward;
  list->Operators(operators, s.rows, s.n);
}

}  // namespace

// The picked scores are scattered into a zeroed table of all scores, beside a table of the picks
// with one byte per entry. An index has 8 bytes.
void ListKernels(const submodule::TopK& s, KernelList* list) {
  if (s.fused) {
    list->Memory(list->forward() ? K::kTopK : K::kScatter, s.rows, s.n, 2 * list->e);
    return ListLoss(s, list);
  }
  constexpr double kIndex = 8, kPick = 1;
  const double e = list->e;
  const double picked = static_cast<double>(s.top_k) / static_cast<double>(s.n);
  if (list->forward()) {
    list->Memory(K::kTopK, s.rows, s.n, e + picked * (e + kIndex));
    list->Memory(K::kFill, s.rows, s.n, e + kPick);
    list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + kIndex + kPick);
    list->Operators(kRouting, s.rows, s.n);
    return ListLoss(s, list);
  }
  list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + kIndex);  // from the gradient of the table
  list->Memory(K::kFill, s.rows, s.n);
  list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + kIndex);  // into the gradient of the scores
  list->Operators(kRoutingBackward, s.rows, s.n);
  ListLoss(s, list);
}

// The row map says where each row goes. Its first pass reads the picks (one byte per entry) and
// writes counts of each expert's tokens in blocks (4 bytes); its second pass turns the counts into
// running sums. The copy reads each token once and writes it top_k times.
void ListKernels(const submodule::Permute& s, KernelList* list) {
  constexpr double kPick = 1, kCount = 4;
  const double e = list->e, copies = static_cast<double>(s.top_k);
  if (!list->forward()) {
    return list->Memory(K::kUnpermute, s.rows * s.top_k, s.n, e + e / copies);
  }
  if (s.counts) list->Operators(kCounts, s.rows, s.experts);
  list->Memory(K::kRowMap, s.rows, s.experts, kPick + kCount);
  list->Memory(K::kRowMap, s.rows, s.experts, kCount + kCount);
  list->Memory(K::kPermute, s.rows * s.top_k, s.n, e + e / copies);
}

// Uses the map of the permutation. Backward reads the results again, for the gradients of their
// weights.
void ListKernels(const submodule::Unpermute& s, KernelList* list) {
  const double e = list->e, copies = static_cast<double>(s.top_k);
  const bool forward = list->forward();
  list->Memory(forward ? K::kUnpermute : K::kPermute, s.rows * s.top_k, s.n,
               (forward ? e : 2 * e) + e / copies);
}

namespace {

// Forward, the activation's result is written beside the product's. Backward, the activation's
// input is read, and its gradient written in place of the product's result.
void ListEpilogue(const submodule::GroupedLinear& s, KernelList* list) {
  const double halves = s.gated ? 2 : 1, e = list->e;
  const DataType written = list->gemm_type;
  const double result = OperandBytes(written) * (IsQuantized(written) ? 2 : 1);
  if (list->forward()) {
    return list->Epilogue(s.gated ? K::kSwiglu : K::kGelu, s.rows, s.n / (s.gated ? 2 : 1), result);
  }
  list->Epilogue(s.gated ? K::kSwigluBackward : K::kGeluBackward, s.rows, s.k,
                 halves * e + halves * result - e);
}

}  // namespace

// Assumes that every expert has the same number of tokens. Without one kernel for all experts,
// Transformer Engine launches a product for each expert, on four streams that fill each other's
// gaps, and quantizes the rows of each expert.
void ListKernels(const submodule::GroupedLinear& s, KernelList* list) {
  const int64_t each = (s.rows + s.experts - 1) / s.experts;
  const DataType type = list->gemm_type;
  const bool quantized = IsQuantized(type);
  const size_t before = list->kernels.size();
  if (list->forward()) {
    if (quantized && !s.fp8_input) list->Quantize(s.rows, s.k, s.search_input);
    list->Add(GroupedGemm(K::kGroupedGemm, type, s.experts, each, s.n, s.k));
    if (s.fused) ListEpilogue(s, list);
  }
  if (list->activation_gradient()) {
    if (quantized && !s.fp8_gradient) list->Quantize(s.rows, s.n, s.search_gradient);
    list->Add(OfBackward(GroupedGemm(K::kGroupedGemm, type, s.experts, each, s.k, s.n)));
    if (s.fused) ListEpilogue(s, list);
  }
  if (list->weight_gradient()) {
    const int64_t element = MainGradientElement(s);
    list->Add(OfBackward(
        element > 0
            ? GroupedGemm(K::kGroupedGemmAccumulate, type, s.experts, s.n, s.k, each, element)
            : GroupedGemm(K::kGroupedGemm, type, s.experts, s.n, s.k, each)));
  }
  if (!s.one_kernel && !s.fused) list->Loop(s.experts, list->kernels.size() - before);
}

}  // namespace drydock
