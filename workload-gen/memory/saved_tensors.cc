#include "workload-gen/memory/saved_tensors.h"

namespace drydock {
namespace {

SavedTensors Attention(const Submodule& s, int64_t e) {
  const int64_t keys = s.kv_sequence > 0 ? s.kv_sequence : s.sequence;
  const int64_t value = s.value_dim > 0 ? s.value_dim : s.head_dim;
  SavedTensors saved;
  saved.inputs = Bytes(
      e * s.batch * (s.sequence * s.heads * s.head_dim + keys * s.kv_heads * (s.head_dim + value)));
  saved.outputs = Bytes(e * s.batch * s.sequence * s.heads * value);
  if (s.fused) return saved;
  // Probabilities; with dropout also what is left of them, and a mask byte each.
  const int64_t scores = s.batch * s.heads * s.sequence * keys;
  saved.internal = Bytes(scores * (s.dropout ? 2 * e + 1 : e));
  return saved;
}

}  // namespace

SavedTensors SavedBy(const Submodule& s) {
  const int64_t e = SizeOf(s.type).count();
  const int64_t grid = s.rows * s.n;
  SavedTensors saved;
  saved.outputs = Bytes(grid * e);
  switch (s.kind) {
    case SubmoduleKind::kLinear:
    case SubmoduleKind::kGroupedLinear:
      saved.inputs = Bytes(s.rows * s.k * e);
      break;
    case SubmoduleKind::kAttention:
      return Attention(s, e);
    case SubmoduleKind::kNorm:
      saved.inputs = Bytes(grid * e);
      break;
    case SubmoduleKind::kActivation:
      saved.inputs = Bytes(grid * e * (s.gated ? 2 : 1));
      break;
    case SubmoduleKind::kBiasDropoutAdd:
      saved.internal = Bytes(s.dropout ? grid : 0);
      break;
    case SubmoduleKind::kRouter:  // scores and their softmax in fp32
      saved.inputs = Bytes(s.rows * s.k * e);
      saved.internal = Bytes(grid * 4);
      break;
    case SubmoduleKind::kUnpermute:  // the results that are weighted
      saved.inputs = Bytes(s.rows * s.top_k * s.n * e);
      break;
    case SubmoduleKind::kEmbedding:  // token numbers
      saved.inputs = Bytes(s.rows * 8);
      break;
    case SubmoduleKind::kCrossEntropy:  // the softmax in fp32
      saved.internal = Bytes(grid * 4);
      break;
    default:
      break;
  }
  return saved;
}

}  // namespace drydock
