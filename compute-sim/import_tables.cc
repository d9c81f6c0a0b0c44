// aiconfigurator's tables, Vidur's profiles and AIOB's output.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compute-sim/foreign_table.h"
#include "compute-sim/import.h"
#include "core/base/files.h"

namespace drydock {
namespace {

constexpr double kMilli = 1000;  // a millisecond in microseconds

std::optional<DataType> TypeNamed(const std::string& name) {
  static const std::map<std::string, DataType> types = {{"bfloat16", DataType::kBf16},
                                                        {"float16", DataType::kFp16},
                                                        {"fp8", DataType::kFp8},
                                                        {"bf16", DataType::kBf16},
                                                        {"fp16", DataType::kFp16}};
  const auto found = types.find(name);
  if (found == types.end()) return std::nullopt;
  return found->second;
}

// Reads the columns into the places; the first mistake ends it.
Status Integers(const ForeignTable& table, size_t row,
                std::initializer_list<std::pair<const char*, int64_t*>> columns) {
  for (const auto& [name, value] : columns) {
    ASSIGN_OR_RETURN(*value, table.Integer(row, name));
  }
  return OkStatus();
}

Status AiconfiguratorGemm(const ForeignTable& table, size_t row, ImportedTimes* out) {
  ASSIGN_OR_RETURN(const std::string name, table.Text(row, "gemm_dtype"));
  const std::optional<DataType> type = TypeNamed(name);
  if (!type.has_value()) {
    ++out->left_out["gemm in " + name];
    return OkStatus();
  }
  int64_t m = 0, n = 0, k = 0;
  RETURN_IF_ERROR(Integers(table, row, {{"m", &m}, {"n", &n}, {"k", &k}}));
  ASSIGN_OR_RETURN(const double latency, table.Positive(row, "latency"));
  out->Add(Gemm(*type, m, n, k), latency * kMilli);
  return OkStatus();
}

Status AiconfiguratorAttention(const ForeignTable& table, size_t row, ImportedTimes* out) {
  ASSIGN_OR_RETURN(const std::string name, table.Text(row, "attn_dtype"));
  const std::optional<DataType> type = TypeNamed(name);
  AttentionShape s;
  s.causal = true;
  RETURN_IF_ERROR(Integers(table, row,
                           {{"batch_size", &s.batch},
                            {"isl", &s.sequence},
                            {"num_heads", &s.heads},
                            {"num_key_value_heads", &s.kv_heads},
                            {"head_dim", &s.head_dim}}));
  if (s.kv_heads == 0) s.kv_heads = s.heads;  // 0: as many
  if (!type.has_value() || *type == DataType::kFp8) {
    ++out->left_out["attention in " + name];
    return OkStatus();
  }
  // Writing into the cache is part of the time; into one of another type it is another kernel.
  if (table.Given(row, "kv_cache_dtype")) {
    ASSIGN_OR_RETURN(const std::string cache, table.Text(row, "kv_cache_dtype"));
    if (TypeNamed(cache) != type) {
      ++out->left_out[fmt::format("attention in {} with a KV cache in {}", name, cache)];
      return OkStatus();
    }
  }
  if (table.Given(row, "window_size")) {  // 0: every key is seen
    ASSIGN_OR_RETURN(const int64_t window, table.Integer(row, "window_size"));
    if (window > 0) {
      ++out->left_out["attention in a window"];
      return OkStatus();
    }
  }
  ASSIGN_OR_RETURN(const double latency, table.Positive(row, "latency"));
  out->Add(Attention(KernelKind::kAttentionForward, *type, s), latency * kMilli);
  return OkStatus();
}

// A product or a memory-bound kernel of one of Vidur's operations.
struct VidurShape {
  int64_t tokens = 0, tensor = 0, hidden = 0, ffn = 0, heads = 0, kv_heads = 0;
  bool gated = false;
};

// What VidurKernel divides.
bool DividesExactly(const VidurShape& s) {
  if (s.hidden % s.heads != 0 || s.kv_heads > s.heads) return false;
  const int64_t qkv = (s.heads + 2 * s.kv_heads) * (s.hidden / s.heads);
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
    return MemoryKernel(s.gated ? KernelKind::kSwiglu : KernelKind::kGelu, type, s.tokens, ffn, 1);
  }
  if (op == "input_layernorm" || op == "post_attention_layernorm") {
    return MemoryKernel(KernelKind::kFusedNorm, type, s.tokens, s.hidden, 1);
  }
  if (op == "add") return MemoryKernel(KernelKind::kAdd, type, s.tokens, s.hidden, 1);
  return std::nullopt;
}

Status VidurLayer(const ForeignTable& table, size_t row, DataType type, ImportedTimes* out) {
  VidurShape s;
  RETURN_IF_ERROR(Integers(table, row,
                           {{"num_tokens", &s.tokens},
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
    const Result<std::string> gated = table.Text(row, "use_gated_mlp");
    if (!gated.ok()) return gated.error();
    s.gated = *gated == "True" || *gated == "true" || *gated == "1";
  }
  for (const char* op : {"mlp_up_proj", "mlp_down_proj", "attn_pre_proj", "attn_post_proj",
                         "mlp_act", "input_layernorm", "post_attention_layernorm", "add"}) {
    const std::string column = fmt::format("time_stats.{}.median", op);
    if (!table.Given(row, column)) continue;
    ASSIGN_OR_RETURN(const double time, table.Positive(row, column));
    out->Add(*VidurKernel(op, s, type), time * kMilli);
  }
  return OkStatus();
}

// A prefill of `prefill_chunk_size` tokens after `kv_cache_size` that are there already.
Status VidurAttention(const ForeignTable& table, size_t row, DataType type, ImportedTimes* out) {
  const char* column = "time_stats.attn_prefill.median";
  if (!table.Given(row, column)) {
    ++out->left_out["decode"];
    return OkStatus();
  }
  int64_t chunk = 0, cached = 0, tensor = 0, hidden = 0, heads = 0, kv_heads = 0, batch = 0;
  RETURN_IF_ERROR(Integers(table, row,
                           {{"prefill_chunk_size", &chunk},
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
  // Fewer heads of keys than GPUs: each GPU has one of them.
  const bool shared = kv_heads < tensor && tensor % kv_heads == 0;
  if (hidden % heads != 0 || heads % tensor != 0 || (kv_heads % tensor != 0 && !shared)) {
    ++out->left_out["row whose extents do not divide"];
    return OkStatus();
  }
  AttentionShape s{batch,          chunk, heads / tensor, std::max<int64_t>(1, kv_heads / tensor),
                   hidden / heads, true};
  s.kv_sequence = chunk + cached;
  ASSIGN_OR_RETURN(const double time, table.Positive(row, column));
  out->Add(Attention(KernelKind::kAttentionForward, type, s), time * kMilli);
  return OkStatus();
}

std::optional<Kernel> AiobKernel(const std::string& section, const ImportedModel& m,
                                 DataType type) {
  const int64_t rows = m.micro_batch * m.sequence, head = m.hidden / m.heads;
  const int64_t heads = m.heads / m.tensor, batch = m.micro_batch * heads;
  const int64_t ffn = m.ffn / m.tensor;
  if (section == "atten_qkv") return Gemm(type, rows, 3 * m.hidden / m.tensor, m.hidden);
  if (section == "atten_linear") return Gemm(type, rows, m.hidden, m.hidden / m.tensor);
  if (section == "mlp_linear_1") return Gemm(type, rows, ffn, m.hidden);
  if (section == "mlp_linear_2") return Gemm(type, rows, m.hidden, ffn);
  if (section == "logit") return Gemm(type, rows, m.vocab / m.tensor, m.hidden);
  if (section == "mlp_gelu") return MemoryKernel(KernelKind::kGelu, type, rows, ffn, 1);
  if (section == "layernorm" || section == "layernorm2") {
    return MemoryKernel(KernelKind::kLayerNorm, type, rows, m.hidden, 1);
  }
  if (section == "atten_flash") {
    return Attention(KernelKind::kAttentionForward, type,
                     {m.micro_batch, m.sequence, heads, heads, head, true});
  }
  if (section == "atten_core_qk") return BatchedGemm(type, batch, m.sequence, m.sequence, head);
  if (section == "atten_core_contex") return BatchedGemm(type, batch, m.sequence, head, m.sequence);
  if (section == "atten_core_softmax") {
    return MemoryKernel(KernelKind::kCausalSoftmax, type, batch * m.sequence, m.sequence, 1);
  }
  return std::nullopt;
}

}  // namespace

Result<ImportedTimes> ReadAiconfigurator(const std::string& path, const ImportOptions&) {
  ASSIGN_OR_RETURN(const ForeignTable table, ForeignTable::Read(path));
  ImportedTimes out;
  const bool gemm = table.Has("gemm_dtype"), attention = table.Has("isl");
  if (!gemm && !attention) {
    return Error(
        "neither 'gemm_dtype' nor 'isl' is among the columns: no gemm_perf and no "
        "context_attention_perf",
        {path, 0, 0});
  }
  for (size_t row = 0; row < table.size(); ++row) {
    RETURN_IF_ERROR(gemm ? AiconfiguratorGemm(table, row, &out)
                         : AiconfiguratorAttention(table, row, &out));
  }
  return out;
}

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

// Sections ("atten_qkv:") and under each "time_gpu_avg: 123" in microseconds.
Result<ImportedTimes> ReadAiob(const std::string& path, const ImportOptions& options) {
  if (options.model.hidden == 0) {
    return Error("AIOB's output has no shapes: say with --model what it was measured on",
                 {path, 0, 0});
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ImportedTimes out;
  std::string section;
  int line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    const size_t first = line.find_first_not_of(" \t"), colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(first, colon - first);
    if (first == 0 && key != "time_gpu_avg") section = key;
    if (key != "time_gpu_avg") continue;
    const std::optional<Kernel> kernel = AiobKernel(section, options.model, options.type);
    if (!kernel.has_value()) {
      ++out.left_out[section];
      continue;
    }
    double us = 0;
    const size_t number = line.find_first_not_of(" \t", colon + 1);
    const char* from = line.data() + std::min(number, line.size());
    const auto [rest, error] = std::from_chars(from, line.data() + line.size(), us);
    const size_t end_of_number = static_cast<size_t>(rest - line.data());
    const bool alone = line.find_first_not_of(" \t\r", end_of_number) == std::string::npos;
    if (error != std::errc() || !alone || !(us > 0)) {
      return Error("expected a time above 0, in microseconds and without a unit",
                   {path, line_number, static_cast<int>(from - line.data()) + 1}, line);
    }
    out.Add(*kernel, us);
  }
  return out;
}

}  // namespace drydock
