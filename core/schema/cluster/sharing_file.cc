#include "core/schema/cluster/sharing_file.h"

#include <optional>
#include <string>

#include "core/base/check.h"

namespace drydock {
namespace {

std::optional<SharingCosts> SharingIn(const std::string& gpu_file) {
  if (gpu_file.empty()) return std::nullopt;
  const Result<YamlNode> root = ParseYaml(gpu_file, "");
  CHECK_NOTE(root.ok(), "the GPU's file was parsed when the cluster was read");
  const YamlNode* node = root->Find("sharing");
  if (node == nullptr) return std::nullopt;
  SharingCosts costs;
  Diagnostics diagnostics;
  ReadSharing(*node, &costs, &diagnostics);
  CHECK_NOTE(diagnostics.ok(), "the GPU's file was valid when the cluster was read");
  return costs;
}

}  // namespace

void ReadSharing(const YamlNode& node, SharingCosts* costs, Diagnostics* diagnostics) {
  YamlReader reader(node, "sharing", diagnostics);
  reader.Read("channel_sms", &costs->channel_sms);
  if (!(costs->channel_sms >= 0 && costs->channel_sms <= 2)) {
    reader.Fail("channel_sms", "'channel_sms' is a number of SMs, from 0 to 2");
  }
  reader.Read("staged_traffic", &costs->staged_traffic);
  if (!(costs->staged_traffic >= 0 && costs->staged_traffic <= 2)) {
    reader.Fail("staged_traffic",
                "'staged_traffic' is bytes of memory traffic per byte, from 0 to 2");
  }
  reader.Read("source", &costs->source);
  reader.Finish();
}

std::vector<SharingCosts> SharingOf(const Topology& topology) {
  std::vector<SharingCosts> out;
  for (const GpuSpec& gpu : topology.gpus) {
    std::optional<SharingCosts> costs = SharingIn(gpu.file_text);
    if (!costs) costs = SharingIn(gpu.reference_text);
    out.push_back(costs.value_or(SharingCosts()));
  }
  return out;
}

}  // namespace drydock
