#include "workload-gen/job/inference_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace drydock {
namespace {

constexpr std::array<std::string_view, 12> kWords = {
    "inference", "serving", "generation",   "prefill",      "decode",  "decoding",
    "vllm",      "sglang",  "tensorrt-llm", "tensorrt_llm", "trt-llm", "lmdeploy"};

Error At(const YamlNode& node) {
  return node.ErrorHere(fmt::format("'{}': {}", node.scalar, kInferenceText));
}

}  // namespace

bool MeansInference(std::string_view word) {
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

Status RejectInference(const YamlNode& root) {
  for (const auto& [section, content] : root.entries) {
    if (MeansInference(section.scalar)) return At(section);
    if (section.scalar != "training") continue;
    for (const auto& [key, value] : content.entries) {
      if (MeansInference(key.scalar)) return At(key);
      if (value.kind == YamlNode::Kind::kScalar && MeansInference(value.scalar)) return At(value);
    }
  }
  return OkStatus();
}

}  // namespace drydock
