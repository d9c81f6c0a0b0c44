#include "core/schema/foreign/astra_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

constexpr int kMaxDimensions = 16;
constexpr int64_t kMaxNpus = 1 << 20;
constexpr int64_t kMaxChunks = 1 << 16;
constexpr double kGib = 1 << 30;
constexpr double kMaxGigabytes = 1e6;     // per second
constexpr double kMaxNanoseconds = 1e12;  // about a quarter of an hour

// Reads the values of a list; `read` appends one element.
template <typename T, typename Read>
std::vector<T> ReadList(YamlReader* reader, const std::string& key, Diagnostics* diagnostics,
                        const Read& read) {
  std::vector<T> out;
  const YamlNode* node = reader->Take(key, /*required=*/true);
  if (node == nullptr) return out;
  if (node->kind != YamlNode::Kind::kList || node->items.empty()) {
    diagnostics->Add(
        node->ErrorHere(fmt::format("'{}' must be a list with a value for each "
                                    "dimension",
                                    key)));
    return out;
  }
  for (const YamlNode& item : node->items) {
    Result<T> value = read(item);
    if (!value.ok()) diagnostics->Add(value.error());
    out.push_back(value.ok() ? *std::move(value) : T());
  }
  return out;
}

// Returns the number if it is from `least` to `most`. `unit` is for the message: ASTRA-sim's files
// state no units.
Result<double> NumberInRange(const YamlNode& node, double least, double most, const char* unit) {
  ASSIGN_OR_RETURN(const double value, AsNumber(node));
  if (value >= least && value <= most) return value;
  return node.ErrorHere(
      fmt::format("{} is not from {:g} to {:g} {}", node.scalar, least, most, unit));
}

Result<Bandwidth> ReadBandwidth(const YamlNode& node, double unit) {
  ASSIGN_OR_RETURN(const double value, NumberInRange(node, 1e-6, kMaxGigabytes, "GB/s"));
  return Bandwidth::FromBytesPerSecond(value * unit);
}

Result<Time> ReadNanoseconds(const YamlNode& node) {
  ASSIGN_OR_RETURN(const double value, NumberInRange(node, 0, kMaxNanoseconds, "ns"));
  return Time::Ps(std::llround(value * 1000));
}

Result<DimensionShape> ReadShape(const YamlNode& node) {
  ASSIGN_OR_RETURN(const std::string name, AsString(node));
  const std::vector<std::string>& names = DimensionShapeNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<DimensionShape>(i);
  }
  return node.ErrorHere(fmt::format("there is no topology '{}'{}; valid values are {}", name,
                                    DidYouMean(name, names), Join(names)));
}

Result<int> ReadCount(const YamlNode& node) {
  ASSIGN_OR_RETURN(const int64_t count, AsInteger(node));
  if (count >= 2 && count <= kMaxNpus) return static_cast<int>(count);
  return node.ErrorHere(fmt::format("{} is not from 2 to {} NPUs", count, kMaxNpus));
}

// ---- The system's collectives -------------------------------------------------------------

struct AlgorithmName {
  const char* name;
  DimensionRule rule;
};
const AlgorithmName kAlgorithms[] = {
    {"ring", {DimensionAlgorithm::kRing, 0, false}},
    {"oneRing", {DimensionAlgorithm::kRing, 0, true}},
    {"direct", {DimensionAlgorithm::kDirect, 0, false}},
    {"oneDirect", {DimensionAlgorithm::kDirect, 0, true}},
    {"halvingDoubling", {DimensionAlgorithm::kHalvingDoubling, 0, false}},
    {"oneHalvingDoubling", {DimensionAlgorithm::kHalvingDoubling, 0, true}},
    {"doubleBinaryTree", {DimensionAlgorithm::kDoubleBinaryTree, 0, false}},
};

// Reads an implementation, such as "ring" or "direct4" (at most four concurrent messages).
Result<DimensionRule> ReadRule(const YamlNode& node) {
  ASSIGN_OR_RETURN(const std::string text, AsString(node));
  const size_t digits = text.find_first_of("0123456789");
  const std::string name = text.substr(0, digits);
  std::vector<std::string> names;
  for (const AlgorithmName& each : kAlgorithms) {
    names.push_back(each.name);
    if (name != each.name) continue;
    DimensionRule rule = each.rule;
    if (digits == std::string::npos) return rule;
    const char *begin = text.data() + digits, *end = text.data() + text.size();
    const auto [at, error] = std::from_chars(begin, end, rule.window);
    const bool is_number = error == std::errc() && at == end && rule.window > 0;
    if (rule.algorithm == DimensionAlgorithm::kDirect && is_number) return rule;
  }
  return node.ErrorHere(
      fmt::format("there is no implementation '{}'{}; valid values are {}, and "
                  "direct and oneDirect with a number of concurrent messages",
                  text, DidYouMean(text, names), Join(names)));
}

struct RuleList {
  const char* key;
  std::vector<DimensionRule> CollectiveSystem::*rules;
};
const RuleList kRuleLists[] = {
    {"all-reduce-implementation", &CollectiveSystem::all_reduce},
    {"all-gather-implementation", &CollectiveSystem::all_gather},
    {"reduce-scatter-implementation", &CollectiveSystem::reduce_scatter},
    {"all-to-all-implementation", &CollectiveSystem::all_to_all},
};

class SystemReader {
 public:
  SystemReader(const YamlNode& root, const DimensionNetwork& network, Diagnostics* diagnostics)
      : reader_(root, "an ASTRA-sim system", diagnostics),
        network_(network),
        diagnostics_(diagnostics) {}

  CollectiveSystem Read() {
    ReadOrder();
    for (const RuleList& list : kRuleLists) {
      system_.*list.rules = ReadList<DimensionRule>(
          &reader_, list.key, diagnostics_, [](const YamlNode& item) { return ReadRule(item); });
      CheckRules(list.key, system_.*list.rules);
    }
    reader_.Read("preferred-dataset-splits", &system_.splits);
    reader_.CheckRange("preferred-dataset-splits", system_.splits, 1, kMaxChunks);
    reader_.ReadOptional("active-chunks-per-dimension", &system_.active_chunks);
    reader_.CheckRange("active-chunks-per-dimension", system_.active_chunks, 1, kMaxChunks);
    ReadEndpoint();
    ReadOptimization();
    CheckTree();
    ReadRoofline();
    RefuseCustom();
    SkipOtherKeys();
    reader_.Finish();
    return std::move(system_);
  }

 private:
  void ReadOrder() {
    int order = 0;
    reader_.ReadChoice("scheduling-policy", {"LIFO", "FIFO", "EXPLICIT"}, &order,
                       /*required=*/true);
    system_.order = static_cast<ChunkOrder>(order);
  }

  void ReadEndpoint() {
    system_.endpoint_delay = Time::Ns(10);  // ASTRA-sim's default
    int64_t delay = 10;
    reader_.ReadOptional("endpoint-delay", &delay);
    reader_.CheckRange("endpoint-delay", delay, 0, static_cast<int64_t>(kMaxNanoseconds));
    system_.endpoint_delay = Time::Ns(delay);
    if (const YamlNode* node = reader_.Take("local-mem-bw", /*required=*/true)) {
      const Result<Bandwidth> memory = ReadBandwidth(*node, 1e9);
      if (memory.ok()) system_.memory = *memory;
      if (!memory.ok()) diagnostics_->Add(memory.error());
    }
  }

  // Of whole workloads.
  void ReadRoofline() {
    int roofline = 0;
    reader_.ReadOptional("roofline-enabled", &roofline);
    reader_.CheckRange("roofline-enabled", roofline, 0, 1);
    double peak = 0;
    reader_.ReadOptional("peak-perf", &peak);
    system_.roofline = roofline == 1;
    system_.peak = FlopRate(peak * 1e12);
    if (!(peak >= 0 && peak <= 1e9) || (system_.roofline && peak <= 0)) {
      reader_.Fail("peak-perf", "'peak-perf' is a number of TFLOPS above 0");
    }
  }

  void RefuseCustom() {
    for (const RuleList& list : kRuleLists) {
      const std::string key = std::string(list.key) + "-custom";
      if (reader_.Take(key, /*required=*/false) == nullptr) continue;
      reader_.Fail(key, fmt::format("'{}': custom algorithms run on a cluster, with --planner "
                                    "custom:FILE of simccl and collective-perf",
                                    key));
    }
  }

  void ReadOptimization() {
    int hierarchical = 1;
    reader_.ReadChoice("collective-optimization", {"baseline", "localBWAware"}, &hierarchical,
                       /*required=*/false);
    system_.hierarchical = hierarchical == 1;
  }

  void CheckRules(const std::string& key, const std::vector<DimensionRule>& rules) {
    const size_t dimensions = network_.dimensions().size();
    const bool over_all = rules.size() == 1 && rules[0].over_all;
    if (rules.empty()) return;
    if (rules.size() != dimensions && !over_all) {
      return reader_.Fail(key, fmt::format("'{}' has {} values, but the network has {} dimensions",
                                           key, rules.size(), dimensions));
    }
    for (size_t d = 0; d < rules.size(); ++d) {
      CheckRule(key, rules[d], over_all ? network_.npus() : network_.dimensions()[d].npus,
                rules.size());
    }
  }

  void CheckRule(const std::string& key, const DimensionRule& rule, int npus, size_t rules) {
    if (rule.over_all && rules > 1) {
      reader_.Fail(
          key, fmt::format("'{}': an implementation over all NPUs must be the only value", key));
    }
    const bool halves = rule.algorithm == DimensionAlgorithm::kHalvingDoubling;
    const bool tree = rule.algorithm == DimensionAlgorithm::kDoubleBinaryTree;
    if ((halves || tree) && !std::has_single_bit(static_cast<unsigned>(npus))) {
      reader_.Fail(key, fmt::format("'{}': {} NPUs are not a power of two", key, npus));
    }
    if (halves && key == "all-to-all-implementation") {
      reader_.Fail(key, fmt::format("'{}': halvingDoubling has no all-to-all", key));
    }
    if (tree && key != "all-reduce-implementation") {
      reader_.Fail(key, fmt::format("'{}': a doubleBinaryTree only implements all-reduce", key));
    }
  }

  // Reports a tree before the last dimension: there an all-reduce runs as a reduce-scatter, which
  // trees do not implement.
  void CheckTree() {
    const std::vector<DimensionRule>& rules = system_.all_reduce;
    for (size_t d = 0; system_.hierarchical && d + 1 < rules.size(); ++d) {
      if (rules[d].algorithm != DimensionAlgorithm::kDoubleBinaryTree) continue;
      reader_.Fail("all-reduce-implementation",
                   "with 'localBWAware' a doubleBinaryTree can only be in the last dimension");
    }
  }

  // Skips keys that do not affect communication or that have only one supported value.
  void SkipOtherKeys() {
    for (const char* key :
         {"boost-mode", "trace-enabled", "replay-only", "track-local-mem",
          "local-mem-trace-filename", "local-reduction-delay", "L", "o", "g", "G"}) {
      reader_.Take(key, /*required=*/false);
    }
    int shared = 0;
    reader_.ReadOptional("model-shared-bus", &shared);
    if (shared != 0) {
      reader_.Fail("model-shared-bus", "a shared bus at the endpoint is not modeled; write 0");
    }
  }

  YamlReader reader_;
  const DimensionNetwork& network_;
  Diagnostics* diagnostics_;
  CollectiveSystem system_;
};

}  // namespace

Result<DimensionNetwork> ParseAstraNetwork(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  for (const auto& [key, value] : root.entries) {
    if (key.scalar != "logical-dims") continue;
    return key.ErrorHere(
        "'logical-dims' states the sizes of a logical network alone, and ns-3 has the network "
        "itself; write 'topology', 'npus_count', 'bandwidth' and 'latency' of each dimension");
  }
  Diagnostics diagnostics;
  YamlReader reader(root, "an ASTRA-sim network", &diagnostics);
  const auto shapes = ReadList<DimensionShape>(&reader, "topology", &diagnostics, ReadShape);
  const auto counts = ReadList<int>(&reader, "npus_count", &diagnostics, ReadCount);
  const auto rates = ReadList<Bandwidth>(&reader, "bandwidth", &diagnostics,
                                         [](const YamlNode& n) { return ReadBandwidth(n, kGib); });
  const auto latencies = ReadList<Time>(&reader, "latency", &diagnostics, ReadNanoseconds);
  reader.Finish();
  const std::pair<const char*, size_t> lists[] = {
      {"npus_count", counts.size()}, {"bandwidth", rates.size()}, {"latency", latencies.size()}};
  for (const auto& [key, size] : lists) {
    if (size == 0 || size == shapes.size()) continue;
    reader.Fail(key,
                fmt::format("'{}' has {} values, but 'topology' has {}", key, size, shapes.size()));
  }
  if (shapes.size() > kMaxDimensions) {
    reader.Fail("topology", fmt::format("more than {} dimensions", kMaxDimensions));
  }
  int64_t npus = 1;
  for (const int count : counts) npus = std::min(npus * count, kMaxNpus + 1);
  if (npus > kMaxNpus) reader.Fail("npus_count", fmt::format("more than {} NPUs", kMaxNpus));
  RETURN_IF_ERROR(diagnostics.ToStatus());
  std::vector<NetworkDimension> dimensions;
  for (size_t i = 0; i < shapes.size(); ++i) {
    dimensions.push_back({shapes[i], counts[i], rates[i], latencies[i]});
  }
  return DimensionNetwork(std::move(dimensions));
}

Result<CollectiveSystem> ParseAstraSystem(const std::string& text, const std::string& file_name,
                                          const DimensionNetwork& network) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  CollectiveSystem system = SystemReader(root, network, &diagnostics).Read();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return system;
}

}  // namespace drydock
