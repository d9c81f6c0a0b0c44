#include "core/schema/cluster/simai_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"
#include "core/base/units.h"

namespace drydock {
namespace {

constexpr int64_t kMaxCount = 10'000'000;

struct Counts {
  int64_t nodes = 0, gpus_per_server = 0, nvswitches = 0, switches = 0;
  std::string gpu;
  int64_t gpus() const { return nodes - nvswitches - switches; }
};

std::optional<Counts> ReadCounts(const std::string& text) {
  std::istringstream line(text.substr(0, std::min(text.find('\n'), size_t{200})));
  Counts counts;
  int64_t links = 0;
  std::string more;
  if (!(line >> counts.nodes >> counts.gpus_per_server >> counts.nvswitches >> counts.switches >>
        links >> counts.gpu) ||
      (line >> more)) {
    return std::nullopt;
  }
  for (const int64_t count :
       {counts.nodes, counts.gpus_per_server, counts.nvswitches, counts.switches, links}) {
    if (count < 0 || count > kMaxCount) return std::nullopt;
  }
  if (std::isalpha(static_cast<unsigned char>(counts.gpu[0])) == 0) return std::nullopt;
  return counts;
}

// The rate of a GPU's NIC: all cables from GPU 0 to switches that are not NVSwitches.
std::optional<Bandwidth> NicRate(const std::string& text, const Counts& counts) {
  std::istringstream lines(text);
  std::string line;
  int64_t bits = 0;
  const int64_t first_switch = counts.gpus() + counts.nvswitches;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    int64_t from = 0, to = 0;
    std::string rate, delay;
    if (!(words >> from >> to >> rate >> delay)) continue;
    if ((from != 0 || to < first_switch) && (to != 0 || from < first_switch)) continue;
    const Result<Bandwidth> parsed = ParseBandwidth(rate);
    if (!parsed.ok() || parsed->bits_per_second() > (int64_t{1} << 52)) return std::nullopt;
    bits += parsed->bits_per_second();
  }
  if (bits == 0) return std::nullopt;
  return Bandwidth::BitsPerSecond(bits);
}

// The shipped cluster whose hosts have SimAI's GPU.
const std::map<std::string, std::string>& Clusters() {
  static const std::map<std::string, std::string> clusters = {
      {"A100", "dgx-a100-80g-8"}, {"A800", "dgx-a100-80g-8"}, {"H100", "dgx-h100-8"},
      {"H800", "hgx-h800-256"},   {"H20", "hgx-h20-8"},       {"H200", "dgx-h200-8"},
      {"B200", "dgx-b200-8"}};
  return clusters;
}

std::string Quoted(const std::string& text) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.scalar = text;
  return ToYaml(node);
}

// Sets a value below nested maps of a cluster file: "hosts.dgx-h100.gpus".
Status Set(const std::string& path, const std::string& value, YamlNode* root) {
  return ApplyOverride(path + "=" + value, root);
}

const YamlNode* Find(const YamlNode& root, std::initializer_list<const char*> path) {
  const YamlNode* at = &root;
  for (const char* key : path) {
    if (at == nullptr || at->kind != YamlNode::Kind::kMap) return nullptr;
    at = at->Find(key);
  }
  return at;
}

}  // namespace

bool IsSimaiTopology(const std::string& text) { return ReadCounts(text).has_value(); }

Result<YamlNode> ClusterOfSimai(const std::string& text, const std::string& path) {
  const Counts counts = *ReadCounts(text);
  const auto fail = [&path](const std::string& what) { return Error(what, {path, 1, 0}); };
  const auto base = Clusters().find(counts.gpu);
  if (base == Clusters().end()) {
    std::vector<std::string> known;
    for (const auto& [gpu, cluster] : Clusters()) known.push_back(gpu);
    return fail(
        fmt::format("there is no cluster with the GPU '{}' of this topology{}; known are {}; "
                    "write a cluster file with 'fabric: {{kind: simai, file: {}}}'",
                    counts.gpu, DidYouMean(counts.gpu, known), Join(known), BaseName(path)));
  }
  if (counts.gpus() < 1 || counts.gpus_per_server < 1 ||
      counts.gpus() % counts.gpus_per_server != 0) {
    return fail(fmt::format("{} GPUs are no whole number of servers with {} each", counts.gpus(),
                            counts.gpus_per_server));
  }
  const int64_t servers = counts.gpus() / counts.gpus_per_server;
  const std::optional<Bandwidth> rate = NicRate(text, counts);
  if (!rate && servers > 1) return fail("GPU 0 has no link to a switch outside its server");
  ASSIGN_OR_RETURN(YamlNode root,
                   LoadYaml(fmt::format("{}/clusters/{}.topo", ConfigDirectory(), base->second)));
  const std::string host = Find(root, {"cluster", "host"})->scalar;
  const std::string latency = Find(root, {"fabric", "leaf", "latency"})->scalar;
  const std::string buffer = Find(root, {"fabric", "leaf", "buffer"})->scalar;
  std::erase_if(root.entries, [](const auto& entry) { return entry.first.scalar == "fabric"; });
  ASSIGN_OR_RETURN(const YamlNode fabric,
                   ParseYaml(fmt::format("fabric:\n  kind: simai\n  file: {}\n"
                                         "  switch_latency: {}\n  switch_buffer: {}\n",
                                         Quoted(BaseName(path)), latency, buffer),
                             path));
  root.entries.push_back(fabric.entries[0]);
  RETURN_IF_ERROR(Set("cluster.name", Quoted(BaseName(path)), &root));
  RETURN_IF_ERROR(Set("cluster.hosts", fmt::format("{}", servers), &root));
  const std::string kind = "hosts." + host;
  RETURN_IF_ERROR(Set(kind + ".gpus", fmt::format("{}", counts.gpus_per_server), &root));
  RETURN_IF_ERROR(Set(kind + ".nics.count", fmt::format("{}", counts.gpus_per_server), &root));
  if (rate) RETURN_IF_ERROR(Set(kind + ".nics.rate", ToString(*rate), &root));
  if (counts.gpu == "A800") {  // an A100 with eight NVLinks
    RETURN_IF_ERROR(Set(kind + ".gpu", "a800-sxm-80g", &root));
    RETURN_IF_ERROR(Set(kind + ".scale_up.bandwidth", "200 GB/s", &root));
  }
  return root;
}

}  // namespace drydock
