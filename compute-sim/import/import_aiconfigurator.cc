// aiconfigurator's tables.
#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/import/foreign_table.h"
#include "compute-sim/import/import.h"

namespace drydock {
namespace {

constexpr double kMilli = 1000;  // a millisecond in microseconds

std::optional<DataType> TypeNamed(const std::string& name) {
  static const std::map<std::string, DataType> types = {
      {"bfloat16", DataType::kBf16},      {"float16", DataType::kFp16}, {"fp8", DataType::kFp8},
      {"fp8_block", DataType::kFp8Block}, {"nvfp4", DataType::kNvfp4},  {"bf16", DataType::kBf16},
      {"fp16", DataType::kFp16}};
  const auto found = types.find(name);
  if (found == types.end()) return std::nullopt;
  return found->second;
}

Status AiconfiguratorGemm(const ForeignTable& table, size_t row, ImportedTimes* out) {
  ASSIGN_OR_RETURN(const std::string name, table.Text(row, "gemm_dtype"));
  const std::optional<DataType> type = TypeNamed(name);
  if (!type.has_value()) {
    ++out->left_out["gemm in " + name];
    return OkStatus();
  }
  int64_t m = 0, n = 0, k = 0;
  RETURN_IF_ERROR(table.Integers(row, {{"m", &m}, {"n", &n}, {"k", &k}}));
  ASSIGN_OR_RETURN(const double latency, table.Positive(row, "latency"));
  out->Add(Gemm(*type, m, n, k), latency * kMilli);
  // The times are those of a framework's linear operator, which computes new scales each time.
  out->quantized |= IsQuantized(*type);
  return OkStatus();
}

// Returns the reason why a profile cannot hold the kernel; "" if it can. The time includes the
// write into the KV cache, so a cache of another type makes a different kernel. The same holds for
// a window, for keys of an earlier step (a decode, or the rest of a prompt), and for a type that
// attention in a profile does not have.
Result<std::string> WhyLeftOut(const ForeignTable& table, size_t row, const std::string& name,
                               std::optional<DataType> type) {
  if (!type.has_value() || IsQuantized(*type)) return "attention in " + name;
  if (table.Given(row, "kv_cache_dtype")) {
    ASSIGN_OR_RETURN(const std::string cache, table.Text(row, "kv_cache_dtype"));
    if (TypeNamed(cache) != type) {
      return fmt::format("attention in {} with a KV cache in {}", name, cache);
    }
  }
  for (const auto& [column, reason] :
       {std::pair("window_size", "attention in a window"),
        std::pair("step", "attention after an earlier step (generation)")}) {
    if (!table.Given(row, column)) continue;
    ASSIGN_OR_RETURN(const int64_t value, table.Integer(row, column));
    if (value > 0) return std::string(reason);
  }
  return std::string();
}

Status AiconfiguratorAttention(const ForeignTable& table, size_t row, ImportedTimes* out) {
  ASSIGN_OR_RETURN(const std::string name, table.Text(row, "attn_dtype"));
  const std::optional<DataType> type = TypeNamed(name);
  AttentionShape s;
  s.causal = true;
  RETURN_IF_ERROR(table.Integers(row, {{"batch_size", &s.batch},
                                       {"isl", &s.sequence},
                                       {"num_heads", &s.heads},
                                       {"num_key_value_heads", &s.kv_heads},
                                       {"head_dim", &s.head_dim}}));
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  ASSIGN_OR_RETURN(const std::string reason, WhyLeftOut(table, row, name, type));
  if (!reason.empty()) {
    ++out->left_out[reason];
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const double latency, table.Positive(row, "latency"));
  out->Add(Attention(KernelKind::kAttentionForward, *type, s), latency * kMilli);
  return OkStatus();
}

}  // namespace

Result<ImportedTimes> ReadAiconfigurator(const std::string& path, const ImportOptions&) {
  ASSIGN_OR_RETURN(const ForeignTable table, ForeignTable::Read(path));
  ImportedTimes out;
  const bool gemm = table.Has("gemm_dtype"), attention = table.Has("attn_dtype");
  if (!gemm && !attention) {
    return Error(
        "neither 'gemm_dtype' nor 'attn_dtype' is among the columns: no gemm_perf, "
        "context_attention_perf or generation_attention_perf",
        {path, 0, 0});
  }
  for (size_t row = 0; row < table.size(); ++row) {
    RETURN_IF_ERROR(gemm ? AiconfiguratorGemm(table, row, &out)
                         : AiconfiguratorAttention(table, row, &out));
  }
  return out;
}

}  // namespace drydock
