#include "core/schema/cluster/simai_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"
#include "core/base/units.h"
#include "core/schema/cluster/simai_conf.h"

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

struct Cable {
  int64_t a = 0, b = 0;
  Bandwidth rate;
  Time delay;
};

// The cables between servers and switches, in the order of the file; not those of NVSwitches. The
// reader of the fabric reports lines that are wrong.
std::vector<Cable> CablesOf(const std::string& text, const Counts& counts) {
  std::istringstream lines(text);
  std::string line;
  std::vector<Cable> cables;
  const auto inside = [&counts](int64_t node) {
    return node >= counts.gpus() && node < counts.gpus() + counts.nvswitches;
  };
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Cable cable;
    std::string rate, delay;
    if (!(words >> cable.a >> cable.b >> rate >> delay)) continue;
    const Result<Bandwidth> parsed = ParseBandwidth(rate);
    const Result<Time> time = ParseTime(delay);
    if (!parsed.ok() || !time.ok() || parsed->bits_per_second() > (int64_t{1} << 52)) continue;
    if (inside(cable.a) || inside(cable.b)) continue;
    cable.rate = *parsed;
    cable.delay = *time;
    cables.push_back(cable);
  }
  return cables;
}

// The rate of a GPU's NIC: all cables of GPU 0.
std::optional<Bandwidth> NicRate(const std::string& text, const Counts& counts) {
  int64_t bits = 0;
  for (const Cable& cable : CablesOf(text, counts)) {
    if (cable.a == 0 || cable.b == 0) bits += cable.rate.bits_per_second();
  }
  if (bits == 0) return std::nullopt;
  return Bandwidth::BitsPerSecond(bits);
}

// Fills the longest of the shortest paths from GPU 0 to another GPU.
void FindLongestPath(const std::vector<Cable>& cables, int64_t gpus, SimaiFabric* fabric) {
  std::map<int64_t, std::vector<size_t>> of_node;
  for (size_t i = 0; i < cables.size(); ++i) {
    of_node[cables[i].a].push_back(i);
    of_node[cables[i].b].push_back(i);
  }
  struct Reach {
    Time delay;
    double inverse_rates = 0;
  };
  std::map<int64_t, Reach> reached = {{0, {}}};
  std::vector<int64_t> queue = {0};
  for (size_t next = 0; next < queue.size(); ++next) {
    const int64_t node = queue[next];
    if (node != 0 && node < gpus) continue;  // a GPU forwards nothing
    const Reach here = reached[node];
    for (const size_t i : of_node[node]) {
      const Cable& cable = cables[i];
      const int64_t other = cable.a == node ? cable.b : cable.a;
      const Reach there = {
          here.delay + cable.delay,
          here.inverse_rates + 1 / static_cast<double>(cable.rate.bits_per_second())};
      if (reached.emplace(other, there).second) queue.push_back(other);
    }
  }
  for (const auto& [node, reach] : reached) {
    if (node >= gpus || reach.delay < fabric->delay) continue;
    fabric->delay = reach.delay;
    fabric->inverse_rates = reach.inverse_rates;
  }
}

Result<SimaiFabric> FabricOf(const std::string& text, const std::string& path) {
  const std::optional<Counts> counts = ReadCounts(text);
  if (!counts || counts->gpus_per_server < 1) {
    return Error(
        "SimAI's settings are for a topology of SimAI, and this file is another kind of cluster",
        {path, 1, 0});
  }
  SimaiFabric fabric;
  fabric.gpus = counts->gpus();
  fabric.gpus_per_server = counts->gpus_per_server;
  fabric.first_switch = counts->gpus() + counts->nvswitches;
  const std::vector<Cable> cables = CablesOf(text, *counts);
  for (const Cable& cable : cables) {
    fabric.rates.insert(cable.rate.bits_per_second());
    const bool first = fabric.nic.bits_per_second() == 0;
    if (first && (cable.a == 0 || cable.b == 0)) fabric.nic = cable.rate;
  }
  if (fabric.nic.bits_per_second() == 0) {
    return Error("GPU 0 has no link to a switch outside its server", {path, 1, 0});
  }
  FindLongestPath(cables, fabric.gpus, &fabric);
  return fabric;
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

// Returns `over` with the keys of `under` that it lacks.
YamlNode Merged(YamlNode over, const YamlNode& under) {
  if (over.kind != YamlNode::Kind::kMap || under.kind != YamlNode::Kind::kMap) return over;
  for (const auto& [key, value] : under.entries) {
    const auto found =
        std::find_if(over.entries.begin(), over.entries.end(),
                     [&](const auto& entry) { return entry.first.scalar == key.scalar; });
    if (found == over.entries.end()) {
      over.entries.emplace_back(key, value);
    } else {
      found->second = Merged(found->second, value);
    }
  }
  return over;
}

// Returns a file that a cluster file names: beside it, or from the working directory.
std::string Locate(const std::string& name, const std::string& cluster) {
  const std::string beside = (std::filesystem::path(DirectoryOf(cluster)) / name).string();
  return FileExists(beside) || !FileExists(name) ? beside : name;
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

std::vector<std::string> SimaiConfsBeside(const std::string& path) {
  std::vector<std::string> found;
  for (const char* name : {"SimAI.conf", "astra.params"}) {
    const std::string beside = (std::filesystem::path(DirectoryOf(path)) / name).string();
    if (FileExists(beside)) found.emplace_back(name);
  }
  return found;
}

Status ApplySimaiConfs(const std::string& path, bool replace, YamlNode* root,
                       std::vector<std::string>* notes) {
  const YamlNode* kind = Find(*root, {"fabric", "kind"});
  const YamlNode* conf = Find(*root, {"fabric", "conf"});
  const YamlNode* file = Find(*root, {"fabric", "file"});
  if (kind == nullptr || kind->scalar != "simai" || conf == nullptr || file == nullptr) {
    return OkStatus();
  }
  std::vector<YamlNode> names = {*conf};
  if (conf->kind == YamlNode::Kind::kList) names = conf->items;
  for (auto& [key, section] : root->entries) {
    if (key.scalar != "fabric") continue;
    std::erase_if(section.entries, [](const auto& entry) { return entry.first.scalar == "conf"; });
  }
  // A topology in place of a cluster file is its own fabric.
  const std::string topology =
      replace ? path : (std::filesystem::path(DirectoryOf(path)) / file->scalar).string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(topology));
  ASSIGN_OR_RETURN(const SimaiFabric fabric, FabricOf(text, topology));
  std::vector<SimaiConfText> files;
  std::vector<std::string> short_names;
  for (const YamlNode& node : names) {
    ASSIGN_OR_RETURN(const std::string name, AsString(node));
    const std::string found = Locate(name, path);
    if (!FileExists(found)) return node.ErrorHere(fmt::format("there is no file '{}'", found));
    ASSIGN_OR_RETURN(const std::string settings, ReadFile(found));
    files.push_back({settings, found});
    short_names.push_back(BaseName(found));
  }
  ASSIGN_OR_RETURN(const SimaiConf parsed, ParseSimaiConf(files, fabric));
  YamlNode stated = *root;
  for (const auto& [key, value] : parsed.values) RETURN_IF_ERROR(Set(key, value, root));
  if (!replace) *root = Merged(std::move(stated), *root);
  for (const std::string& difference : parsed.differences) {
    notes->push_back(fmt::format("{}: {}", Join(short_names, " and "), difference));
  }
  if (!parsed.ignored.empty()) {
    notes->push_back(fmt::format("{}: without effect here: {}", Join(short_names, " and "),
                                 Join(parsed.ignored)));
  }
  return OkStatus();
}

}  // namespace drydock
