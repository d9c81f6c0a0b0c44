// The kernels of mamba_split_conv1d_scan_combined of mamba-ssm 2.2 (ssd_combined.py):
// causal_conv1d, Triton's kernels of the chunked scan, and the norm with its gate. Backward keeps
// the input of the convolution and the output of the scan, and computes everything in between
// again.
#include "compute-sim/submodules/kernel_list.h"

namespace drydock {
namespace {

using K = KernelKind;
using S = submodule::StateSpace;

constexpr double kFp32 = 4;
constexpr int64_t kFp32Element = 4;

class ScanKernels {
 public:
  ScanKernels(const S& s, KernelList* list)
      : s_(s),
        list_(*list),
        chunks_((s.rows + s.chunk - 1) / s.chunk),
        heads_(chunks_ * s.heads),
        groups_(chunks_ * s.groups),
        per_group_(s.heads / s.groups),
        half_((s.chunk + 1) / 2) {}

  void Forward() {
    Prepare();
    // The output of a chunk: from the state before it, and from the earlier tokens of the chunk.
    PerHead({.m = s_.chunk, .n = s_.head_dim, .k = s_.state + half_});
    // The norm reads the output of the scan and the gate.
    list_.Memory(K::kFusedNorm, s_.rows * s_.groups, s_.inner() / s_.groups, 3 * list_.e);
  }

  void Backward() {
    Prepare();
    // Reads the gradient, the output of the scan and the gate; writes the gradients of both.
    list_.Memory(K::kFusedNormBackward, s_.rows * s_.groups, s_.inner() / s_.groups, 5 * list_.e);
    list_.Fp32(K::kNormParameters, list_.assumptions.fused_norm_partial_sums, s_.inner());
    // The gradients of the states: of each chunk, then over the chunks.
    PerHead({.m = s_.state, .n = s_.head_dim, .k = s_.chunk, .result_bytes = kFp32Element});
    PassStates(3 * kFp32);
    // Of the scan's input.
    PerHead({.m = s_.chunk, .n = s_.head_dim, .k = s_.state + half_});
    // Of the input and output matrices: through the states and through the scores of the chunk.
    for (int i = 0; i < 2; ++i) {
      PerGroup({.m = s_.chunk,
                .n = s_.state,
                .k = per_group_ * s_.head_dim,
                .result_bytes = kFp32Element});
    }
    PerGroup(
        {.m = s_.chunk, .n = half_, .k = per_group_ * s_.head_dim, .result_bytes = kFp32Element});
    for (int i = 0; i < 2; ++i) PerGroup({.m = s_.chunk, .n = s_.state, .k = half_});
    // Of the decays: their scores are computed again and only summed.
    PerHead({.m = s_.chunk, .n = half_, .k = s_.head_dim, .result_bytes = 0});
    SumDecays();
    list_.Memory(K::kCausalConvBackward, s_.rows, s_.convolved());
  }

 private:
  // What both passes compute: the convolution, the decays, the scores of each chunk, and the states
  // before each chunk.
  void Prepare() {
    list_.Memory(K::kCausalConv, s_.rows, s_.convolved());
    SumDecays();
    PerGroup({.m = s_.chunk, .n = s_.chunk, .k = s_.state, .result_bytes = kFp32Element});
    PerHead({.m = s_.state, .n = s_.head_dim, .k = s_.chunk, .result_bytes = kFp32Element});
    PassStates(kFp32 + list_.e);
  }

  // Reads the step of each token and head; writes it and the sum of the decays up to it in fp32.
  void SumDecays() { list_.Memory(K::kRowReduce, s_.rows, s_.heads, list_.e + 2 * kFp32); }
  void PassStates(double bytes) {
    list_.Memory(K::kElementwise, heads_, s_.head_dim * s_.state, bytes);
  }
  // Products of every head; those of a group share the left operand.
  void PerHead(ChunkProductShape shape) {
    shape.batch = heads_;
    shape.sharing = per_group_;
    list_.Add(ChunkProduct(list_.type, shape));
  }
  void PerGroup(ChunkProductShape shape) {
    shape.batch = groups_;
    list_.Add(ChunkProduct(list_.type, shape));
  }

  const S& s_;
  KernelList& list_;
  const int64_t chunks_, heads_, groups_, per_group_;
  const int64_t half_;  // the mean number of earlier tokens of the chunk
};

}  // namespace

void ListKernels(const S& s, KernelList* list) {
  ScanKernels kernels(s, list);
  if (list->forward()) return kernels.Forward();
  kernels.Backward();
}

}  // namespace drydock
