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

// The picked scores are scattered into a zeroed table of all scores, beside a table of the picks
// with one byte per entry. An index has 8 bytes.
void ListKernels(const submodule::TopK& s, KernelList* list) {
  constexpr double kIndex = 8, kPick = 1;
  const double e = list->e;
  const double picked = static_cast<double>(s.top_k) / static_cast<double>(s.n);
  if (list->forward()) {
    list->Memory(K::kTopK, s.rows, s.n, e + picked * (e + kIndex));
    list->Memory(K::kFill, s.rows, s.n, e + kPick);
    list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + kIndex + kPick);
    return;
  }
  list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + kIndex);  // from the gradient of the table
  list->Memory(K::kFill, s.rows, s.n);
  list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + kIndex);  // into the gradient of the scores
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

// Assumes that every expert has the same number of tokens.
void ListKernels(const submodule::GroupedLinear& s, KernelList* list) {
  const int64_t each = (s.rows + s.experts - 1) / s.experts;
  const DataType type = list->gemm_type;
  const bool fp8 = type == DataType::kFp8;
  if (list->forward()) {
    if (fp8) list->Memory(K::kQuantise, s.rows, s.k);
    list->Add(GroupedGemm(K::kGroupedGemm, type, s.experts, each, s.n, s.k));
  }
  if (list->activation_gradient()) {
    if (fp8) list->Memory(K::kQuantise, s.rows, s.n);
    list->Add(OfBackward(GroupedGemm(K::kGroupedGemm, type, s.experts, each, s.k, s.n)));
  }
  if (list->weight_gradient()) {
    const int64_t element = MainGradientElement(s);
    list->Add(OfBackward(
        element > 0
            ? GroupedGemm(K::kGroupedGemmAccumulate, type, s.experts, s.n, s.k, each, element)
            : GroupedGemm(K::kGroupedGemm, type, s.experts, s.n, s.k, each)));
  }
}

}  // namespace drydock
