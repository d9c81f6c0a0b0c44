// AIOB's output: sections ("atten_qkv:"), each with "time_gpu_avg: 123", the microseconds of the
// forward pass of one GPT model with Megatron's operators. It has times, but no shapes.
#include <fmt/format.h>

#include <charconv>

#include "compute-sim/import/import.h"
#include "core/base/files.h"

namespace drydock {
namespace {

struct Section {
  std::string name;
  double us = 0;
};

// The kernel of a profile that AIOB times between two events, or the reason why a profile cannot
// hold it.
struct AiobEntry {
  std::optional<Kernel> kernel;
  std::string why_not;
};

class AiobModel {
 public:
  AiobModel(const ImportedModel& model, DataType type, const std::vector<Section>& sections)
      : m_(model), type_(type) {
    for (const Section& section : sections) {
      flash_ |= section.name == "atten_flash";
      // DeepSeek's attention has separate sections; its MLP is a layer of experts.
      deepseek_ |= section.name.starts_with("attention_");
    }
  }

  AiobEntry EntryOf(const std::string& name) const {
    const int64_t rows = m_.micro_batch * m_.sequence, shard = m_.hidden / m_.tensor;
    if (name == "logit_time") return {Gemm(type_, rows, m_.vocab / m_.tensor, m_.hidden), ""};
    if (name == "layernorm" || name == "layernorm2" || name == "layernorm_post") return Norm();
    if (deepseek_) return {std::nullopt, name + " of a DeepSeek model"};
    if (name.starts_with("mlp_")) return Mlp(name, rows);
    if (name == "atten_qkv") return {Gemm(type_, rows, 3 * shard, m_.hidden), ""};
    if (name == "atten_linear") {
      if (flash_ && m_.micro_batch > 1) return {std::nullopt, name + " with a copy"};
      return {Gemm(type_, rows, m_.hidden, shard), ""};
    }
    return Core(name);
  }

 private:
  // Apex's fast layer norm. With sequence parallelism, it covers this rank's part of the sequence.
  AiobEntry Norm() const {
    const int64_t rows = m_.sequence / (m_.sequence_parallel ? m_.tensor : 1) * m_.micro_batch;
    return {UsualMemoryKernel(KernelKind::kFusedNorm, type_, rows, m_.hidden), ""};
  }

  AiobEntry Mlp(const std::string& name, int64_t rows) const {
    const int64_t ffn = m_.ffn / m_.tensor;
    if (name == "mlp_linear_1") return {Gemm(type_, rows, (m_.gated ? 2 : 1) * ffn, m_.hidden), ""};
    if (name == "mlp_linear_2") return {Gemm(type_, rows, m_.hidden, ffn), ""};
    if (name == "mlp_gelu" && !m_.gated) {
      return {UsualMemoryKernel(KernelKind::kGelu, type_, rows, ffn), ""};
    }
    return {std::nullopt, m_.gated ? name + " of several kernels" : name};
  }

  AiobEntry Core(const std::string& name) const {
    const int64_t heads = m_.heads / m_.tensor, batch = m_.micro_batch * heads;
    const int64_t head = m_.hidden / m_.heads, sequence = m_.sequence;
    if (name == "atten_flash") {
      return {Attention(KernelKind::kAttentionForward, type_,
                        {m_.micro_batch, sequence, heads, heads, head, true}),
              ""};
    }
    if (name == "atten_core_qk") return {BatchedGemm(type_, batch, sequence, sequence, head), ""};
    if (name == "atten_core_contex") {  // with several heads, also the copy that joins them
      if (batch > 1) return {std::nullopt, name + " with a copy"};
      return {BatchedGemm(type_, batch, sequence, head, sequence), ""};
    }
    if (name == "atten_core_softmax") {
      // If Megatron's masked kernel does not run, PyTorch's kernel does, after a multiplication.
      const bool one = type_ == DataType::kFp16 && sequence > 16 && sequence <= 16384 &&
                       sequence % 4 == 0 && batch % 4 == 0;
      if (!one) return {std::nullopt, name + " of several kernels"};
      return {UsualMemoryKernel(KernelKind::kCausalSoftmax, type_, batch * sequence, sequence), ""};
    }
    return {std::nullopt, name};
  }

  const ImportedModel m_;
  const DataType type_;
  bool flash_ = false, deepseek_ = false;
};

// Parses the value of "    time_gpu_avg: 120".
Result<double> TimeIn(const std::string& line, size_t colon, const Location& here) {
  double us = 0;
  const size_t number = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
  const char* last = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + number, last, us);
  const size_t end = static_cast<size_t>(rest - line.data());
  const bool alone = line.find_first_not_of(" \t\r", end) == std::string::npos;
  if (error == std::errc() && alone && us > 0 && us < kLongestKernel.us()) return us;
  return Error("expected a time above 0, in microseconds and without a unit",
               {here.file, here.line, static_cast<int>(number) + 1}, line);
}

Result<std::vector<Section>> ReadSections(const std::string& text, const std::string& path) {
  std::vector<Section> sections;
  std::string name;
  int line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const Location here{path, ++line_number, 1};
    const size_t first = line.find_first_not_of(" \t"), colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(first, colon - first);
    if (first == 0 && key != "time_gpu_avg") name = key;
    if (key != "time_gpu_avg") continue;
    if (name.empty()) return Error("this time is not in a section", here, line);
    ASSIGN_OR_RETURN(const double us, TimeIn(line, colon, here));
    sections.push_back({name, us});
  }
  return sections;
}

}  // namespace

Result<ImportedTimes> ReadAiob(const std::string& path, const ImportOptions& options) {
  if (options.model.hidden == 0) {
    return Error("AIOB's output has no shapes: describe the measured model with --model",
                 {path, 0, 0});
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const std::vector<Section> sections, ReadSections(text, path));
  ImportedTimes out;
  const AiobModel model(options.model, options.type, sections);
  for (const Section& section : sections) {
    const AiobEntry entry = model.EntryOf(section.name);
    if (entry.kernel.has_value())
      out.Add(*entry.kernel, section.us);
    else
      ++out.left_out[entry.why_not];
  }
  return out;
}

}  // namespace drydock
