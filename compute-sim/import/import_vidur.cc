// Vidur's profiles: milliseconds to three digits.
#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/import/foreign_table.h"
#include "compute-sim/import/import.h"

namespace drydock {
namespace {

constexpr double kMilli = 1000;  // a millisecond in microseconds

// The GEMM or the memory-bound kernel of one of Vidur's operations.
struct VidurShape {
  int64_t tokens = 0, tensor = 0, hidden = 0, ffn = 0, heads = 0, kv_heads = 0;
  bool gated = false;
};

// The extents that VidurKernel divides.
bool DividesExactly(const VidurShape& s) {
  if (s.hidden % s.heads != 0 || s.kv_heads > s.heads) return false;
  const int64_t head = s.hidden / s.heads;
  const int64_t qkv = (s.heads + 2 * s.kv_heads) * head, rotated = (s.heads + s.kv_heads) * head;
  if (rotated % s.tensor != 0) return false;
  return s.ffn % s.tensor == 0 && s.hidden % s.tensor == 0 && qkv % s.tensor == 0;
}

std::optional<Kernel> VidurKernel(const std::string& op, const VidurShape& s, DataType type) {
  const int64_t ffn = s.ffn / s.tensor, head = s.hidden / s.heads;
  const int64_t qkv = (s.heads + 2 * s.kv_heads) * head / s.tensor;
  if (op == "mlp_up_proj") return Gemm(type, s.tokens, (s.gated ? 2 : 1) * ffn, s.hidden);
  if (op == "mlp_down_proj") return Gemm(type, s.tokens, s.hidden, ffn);
  if (op == "attn_pre_proj") return Gemm(type, s.tokens, qkv, s.hidden);
  if (op == "attn_post_proj") return Gemm(type, s.tokens, s.hidden, s.hidden / s.tensor);
  if (op == "mlp_act") {
    return UsualMemoryKernel(s.gated ? KernelKind::kSwiglu : KernelKind::kGelu, type, s.tokens,
                             ffn);
  }
  // Models with a gated MLP have an RMS norm and rotate whole heads; Vidur does not record what
  // other models do.
  const bool unclear = op == "attn_rope" || op.ends_with("_layernorm");
  if (unclear && !s.gated) return std::nullopt;
  if (op == "attn_rope") {  // of queries and keys, in place
    const int64_t width = (s.heads + s.kv_heads) * head / s.tensor;
    return UsualMemoryKernel(KernelKind::kRotary, type, s.tokens, width);
  }
  if (op == "add") return UsualMemoryKernel(KernelKind::kAdd, type, s.tokens, s.hidden);
  return UsualMemoryKernel(KernelKind::kFusedNorm, type, s.tokens, s.hidden);
}

// The median of an operation. It is rounded to a microsecond, so 0 carries no information.
Status VidurTime(const ForeignTable& table, size_t row, const std::string& op,
                 const std::optional<Kernel>& kernel, ImportedTimes* out) {
  const std::string column = fmt::format("time_stats.{}.median", op);
  if (!table.Given(row, column)) return OkStatus();
  ASSIGN_OR_RETURN(const double time, table.NotNegative(row, column));
  if (!kernel.has_value())
    ++out->left_out[op + " of an ungated model"];
  else
    out->Add(*kernel, time * kMilli);
  return OkStatus();
}

Status VidurLayer(const ForeignTable& table, size_t row, DataType type, ImportedTimes* out) {
  VidurShape s;
  RETURN_IF_ERROR(table.Integers(row, {{"num_tokens", &s.tokens},
                                       {"num_tensor_parallel_workers", &s.tensor},
                                       {"n_embd", &s.hidden},
                                       {"n_expanded_embd", &s.ffn},
                                       {"n_head", &s.heads},
                                       {"n_kv_head", &s.kv_heads}}));
  if (std::min({s.tokens, s.tensor, s.hidden, s.ffn, s.heads, s.kv_heads}) < 1) {
    ++out->left_out["row without extents"];
    return OkStatus();
  }
  if (!DividesExactly(s)) {
    ++out->left_out["row whose extents do not divide"];
    return OkStatus();
  }
  if (table.Has("use_gated_mlp")) {
    ASSIGN_OR_RETURN(s.gated, table.Flag(row, "use_gated_mlp"));
  }
  for (const char* op :
       {"mlp_up_proj", "mlp_down_proj", "attn_pre_proj", "attn_post_proj", "attn_rope", "mlp_act",
        "input_layernorm", "post_attention_layernorm", "add"}) {
    RETURN_IF_ERROR(VidurTime(table, row, op, VidurKernel(op, s, type), out));
  }
  return OkStatus();
}

// A prefill of `prefill_chunk_size` tokens after `kv_cache_size` earlier tokens.
Status VidurAttention(const ForeignTable& table, size_t row, DataType type, ImportedTimes* out) {
  const char* column = "time_stats.attn_prefill.median";
  if (!table.Given(row, column)) {
    ++out->left_out["decode"];
    return OkStatus();
  }
  int64_t chunk = 0, cached = 0, tensor = 0, hidden = 0, heads = 0, kv_heads = 0, batch = 0;
  RETURN_IF_ERROR(table.Integers(row, {{"prefill_chunk_size", &chunk},
                                       {"kv_cache_size", &cached},
                                       {"num_tensor_parallel_workers", &tensor},
                                       {"n_embd", &hidden},
                                       {"n_q_head", &heads},
                                       {"n_kv_head", &kv_heads},
                                       {"batch_size", &batch}}));
  if (chunk == 0) {
    ++out->left_out["decode"];
    return OkStatus();
  }
  if (std::min({tensor, hidden, heads, kv_heads, batch}) < 1) {
    ++out->left_out["row without extents"];
    return OkStatus();
  }
  // With fewer key heads than GPUs, each GPU has one key head.
  const bool shared = kv_heads < tensor && tensor % kv_heads == 0;
  if (hidden % heads != 0 || heads % tensor != 0 || (kv_heads % tensor != 0 && !shared)) {
    ++out->left_out["row whose extents do not divide"];
    return OkStatus();
  }
  AttentionShape s{batch,          chunk, heads / tensor, std::max<int64_t>(1, kv_heads / tensor),
                   hidden / heads, true};
  s.kv_sequence = chunk + cached;
  return VidurTime(table, row, "attn_prefill", Attention(KernelKind::kAttentionForward, type, s),
                   out);
}

}  // namespace

Result<ImportedTimes> ReadVidur(const std::string& path, const ImportOptions& options) {
  ASSIGN_OR_RETURN(const ForeignTable table, ForeignTable::Read(path));
  ImportedTimes out;
  const bool attention = table.Has("prefill_chunk_size");
  for (size_t row = 0; row < table.size(); ++row) {
    RETURN_IF_ERROR(attention ? VidurAttention(table, row, options.type, &out)
                              : VidurLayer(table, row, options.type, &out));
  }
  return out;
}

}  // namespace drydock
