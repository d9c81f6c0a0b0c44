#include "compute-sim/kernel/kernel_list.h"

namespace drydock {

using K = KernelKind;

// Scores for every expert; their softmax in fp32.
void RouterKernels(const Submodule& s, KernelList* list) {
  const double e = list->e;
  if (IsForward(s)) {
    list->Add(Gemm(list->type, s.rows, s.n, s.k));
    list->Memory(K::kSoftmax, s.rows, s.n, e + 4);
    return;
  }
  list->Memory(K::kSoftmaxBackward, s.rows, s.n, 8 + e);
  list->Add(Gemm(list->type, s.rows, s.k, s.n));
  list->Add(s.accumulate_fp32 ? GemmAccumulate(list->type, s.n, s.k, s.rows)
                              : Gemm(list->type, s.n, s.k, s.rows));
}

// The picked scores are put back into a table of all (zeroed, scattered into), beside a table of
// who was picked, a byte an entry. An index has 8 B.
void TopKKernels(const Submodule& s, KernelList* list) {
  const double e = list->e;
  const double picked = static_cast<double>(s.top_k) / static_cast<double>(s.n);
  if (IsForward(s)) {
    list->Memory(K::kTopK, s.rows, s.n, e + picked * (e + 8));
    list->Memory(K::kFill, s.rows, s.n, e + 1);
    list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + 8 + 1);
    return;
  }
  list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + 8);  // out of the gradient of the table
  list->Memory(K::kFill, s.rows, s.n, e);
  list->Memory(K::kScatter, s.rows, s.top_k, 2 * e + 8);  // into the gradient of the scores
}

// Where each row goes: a count of each expert's tokens in blocks, then their running sums (two
// passes of 4 B over tokens x experts). Then every token is read once and written top_k times.
void PermuteKernels(const Submodule& s, KernelList* list) {
  const double e = list->e, copies = static_cast<double>(s.top_k);
  if (!IsForward(s)) return list->Memory(K::kUnpermute, s.rows * s.top_k, s.n, e + e / copies);
  list->Memory(K::kRowMap, s.rows, s.experts, 1 + 4);
  list->Memory(K::kRowMap, s.rows, s.experts, 4 + 4);
  list->Memory(K::kPermute, s.rows * s.top_k, s.n, e + e / copies);
}

// The map is the permutation's. Backward reads the results once more: their weights' gradients.
void UnpermuteKernels(const Submodule& s, KernelList* list) {
  const double e = list->e, copies = static_cast<double>(s.top_k);
  const bool forward = IsForward(s);
  list->Memory(forward ? K::kUnpermute : K::kPermute, s.rows * s.top_k, s.n,
               (forward ? e : 2 * e) + e / copies);
}

// As if every expert got the same number of tokens.
void GroupedLinearKernels(const Submodule& s, KernelList* list) {
  const int64_t each = (s.rows + s.experts - 1) / s.experts;
  const bool fp8 = s.type == DataType::kFp8;
  const bool backward = Is(s, Pass::kBackward);
  if (IsForward(s)) {
    if (fp8) list->Memory(K::kQuantise, s.rows, s.k, kQuantiseBytes);
    list->Add(GroupedGemm(K::kGroupedGemm, s.type, s.experts, each, s.n, s.k));
  }
  if (backward || Is(s, Pass::kBackwardActivation)) {
    if (fp8) list->Memory(K::kQuantise, s.rows, s.n, kQuantiseBytes);
    list->Add(OfBackward(GroupedGemm(K::kGroupedGemm, s.type, s.experts, each, s.k, s.n)));
  }
  if (backward || Is(s, Pass::kBackwardWeight)) {
    const int64_t element = MainGradientElement(s);
    list->Add(OfBackward(
        element > 0
            ? GroupedGemm(K::kGroupedGemmAccumulate, s.type, s.experts, s.n, s.k, each, element)
            : GroupedGemm(K::kGroupedGemm, s.type, s.experts, s.n, s.k, each)));
  }
}

// Without the scale of earlier steps, the largest value is looked for first.
void QuantiseKernels(const Submodule& s, KernelList* list) {
  if (!s.fused) list->Memory(K::kRowReduce, s.rows, s.n, 2);
  list->Memory(K::kQuantise, s.rows, s.n, s.unturned ? kUnturnedBytes : kQuantiseBytes);
}

}  // namespace drydock
