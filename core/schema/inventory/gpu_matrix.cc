#include "core/schema/inventory/gpu_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "core/base/plural.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

// A GPU has at most as many NVLinks; more to all others together lead to NVSwitches.
constexpr int kMostLinks = 18;

// nvidia-smi underlines the header on a terminal.
std::string WithoutEscapes(const std::string& line) {
  std::string out;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      out += line[at] == '\t' || line[at] == '\r' ? ' ' : line[at];
      continue;
    }
    while (at < line.size() && line[at] != 'm') ++at;
  }
  return out;
}

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool IsGpu(const std::string& word) {
  return word.starts_with("GPU") && word.size() > 3 &&
         word.find_first_not_of("0123456789", 3) == std::string::npos;
}

class Parser {
 public:
  Parser(const std::string& text, std::string path) : in_(text), path_(std::move(path)) {}

  Result<GpuMatrix> Parse() {
    std::string line;
    while (std::getline(in_, line)) {
      ++number_;
      text_ = WithoutEscapes(line);
      const std::vector<std::string> words = WordsOf(text_);
      if (words.empty()) continue;
      if (devices_.empty()) {
        if (IsGpu(words[0]) && words.size() > 1 && words[1] != "X") ReadHeader(words);
      } else if (IsGpu(words[0])) {
        RETURN_IF_ERROR(ReadGpu(words));
      } else if (words.size() == 2 && words[0].ends_with(':')) {
        Name(words[0].substr(0, words[0].size() - 1), words[1]);
      }
    }
    if (out_.gpus == 0) {
      return Error("this is not what 'nvidia-smi topo -m' prints: no line begins with GPU0",
                   {path_, 0, 0});
    }
    if (static_cast<int>(out_.links.size()) != out_.gpus) {
      return Error(
          fmt::format("there are rows of {} GPUs, but columns of {}", out_.links.size(), out_.gpus),
          {path_, 0, 0});
    }
    return std::move(out_);
  }

 private:
  Error Bad(const std::string& message) const { return Error(message, {path_, number_, 0}, text_); }

  void ReadHeader(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word == "CPU" || word == "NUMA") break;
      devices_.push_back(word);
      if (IsGpu(word)) {
        ++out_.gpus;
      } else {
        out_.nics.push_back(word);
      }
    }
  }

  Status ReadGpu(const std::vector<std::string>& words) {
    if (words.size() < devices_.size() + 1) {
      return Bad(fmt::format("{} has {} columns, but the header has {}", words[0], words.size() - 1,
                             devices_.size()));
    }
    std::vector<int> links;
    std::vector<std::string> paths;
    static const std::vector<std::string> known = {"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
    for (size_t i = 0; i < devices_.size(); ++i) {
      const std::string& word = words[i + 1];
      int count = 0;
      const bool nvlink = word.starts_with("NV");
      if (nvlink) {
        const auto [end, error] =
            std::from_chars(word.data() + 2, word.data() + word.size(), count);
        if (error != std::errc() || end != word.data() + word.size() || count < 1) {
          return Bad(fmt::format("'{}' is not a number of NVLinks, such as NV18", Printable(word)));
        }
      } else if (std::find(known.begin(), known.end(), word) == known.end()) {
        return Bad(fmt::format("'{}' is no connection; there are NV and a number, {}",
                               Printable(word), Join(known)));
      }
      IsGpu(devices_[i]) ? links.push_back(count) : paths.push_back(word);
    }
    out_.links.push_back(links);
    out_.paths.push_back(paths);
    const size_t cpus = devices_.size() + 1;
    out_.cpus.push_back(cpus < words.size() ? words[cpus] : "");
    return OkStatus();
  }

  // "NIC0: mlx5_0" of the legend.
  void Name(const std::string& nic, const std::string& name) {
    std::replace(out_.nics.begin(), out_.nics.end(), nic, name);
  }

  std::istringstream in_;
  const std::string path_;
  std::string text_;
  int number_ = 0;
  std::vector<std::string> devices_;
  GpuMatrix out_;
};

// The most GPUs that have one NIC on a switch of theirs, as `path` or nearer.
int GpusOfASwitch(const GpuMatrix& matrix, const std::set<size_t>& nics) {
  int most = 0;
  for (const size_t nic : nics) {
    int gpus = 0;
    for (const std::vector<std::string>& paths : matrix.paths) {
      gpus += paths[nic] == "PIX" || paths[nic] == "PXB" ? 1 : 0;
    }
    most = std::max(most, gpus);
  }
  return most;
}

class Writer {
 public:
  Writer(const GpuMatrix& matrix, const YamlNode& base, Bandwidth link)
      : matrix_(matrix), root_(base), link_(link) {}

  Result<ClusterText> Write(const std::string& name) {
    const YamlNode* hosts = root_.Find("hosts");
    if (hosts == nullptr || hosts->entries.empty()) {
      return Error("the cluster file of --host describes no host");
    }
    kind_ = hosts->entries[0].first.scalar;
    RETURN_IF_ERROR(Set("gpus", fmt::format("{}", matrix_.gpus)));
    RETURN_IF_ERROR(SetScaleUp());
    RETURN_IF_ERROR(SetNics());
    RETURN_IF_ERROR(SetSockets());
    const YamlNode& host = root_.Find("hosts")->entries[0].second;
    out_.text = fmt::format("cluster: {{name: {}, host: {}, hosts: 1}}\nhosts:\n  {}: {}\n",
                            Quoted(name), Quoted(kind_), Quoted(kind_), ToYaml(host));
    return std::move(out_);
  }

 private:
  static std::string Quoted(const std::string& text) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.scalar = text;
    return ToYaml(node);
  }
  Status Set(const std::string& key, const std::string& value) {
    return ApplyOverride(fmt::format("hosts.{}.{}={}", kind_, key, value), &root_);
  }
  std::string Rate(int links) const {
    return ToString(Bandwidth::BitsPerSecond(link_.bits_per_second() * links));
  }

  Status SetScaleUp() {
    std::set<int> counts;
    int most = 0;
    for (int a = 0; a < matrix_.gpus; ++a) {
      int sum = 0;
      for (int b = 0; b < matrix_.gpus; ++b) {
        if (a == b) continue;
        counts.insert(Links(a, b));
        sum += Links(a, b);
      }
      most = std::max(most, sum);
    }
    if (counts.empty()) return OkStatus();  // a single GPU
    const bool even = counts.size() == 1;
    if (even && *counts.begin() == 0) return SetPcie();
    if (even && most > kMostLinks) {
      out_.notes.push_back(
          fmt::format("{} NVLinks from each GPU into NVSwitches", *counts.begin()));
      RETURN_IF_ERROR(Mend("nvswitch"));
      return Set("scale_up.bandwidth", Rate(*counts.begin()));
    }
    std::string links;
    for (int a = 0; a < matrix_.gpus; ++a) {
      for (int b = a + 1; b < matrix_.gpus; ++b) {
        if (Links(a, b) == 0) continue;
        links += fmt::format("{}{}-{}: {}", links.empty() ? "" : ", ", a, b, Links(a, b));
      }
    }
    out_.notes.push_back("NVLinks from GPU to GPU");
    RETURN_IF_ERROR(Mend("nvlink-mesh"));
    RETURN_IF_ERROR(Set("scale_up.links", "{" + links + "}"));
    return Set("scale_up.bandwidth", Rate(most));
  }

  // Without NVLink the GPUs reach each other over PCIe, whose rate the base states only if its own
  // hosts do so.
  Status SetPcie() {
    const YamlNode* scale_up = root_.Find("hosts")->entries[0].second.Find("scale_up");
    const YamlNode* kind = scale_up == nullptr ? nullptr : scale_up->Find("kind");
    if (kind != nullptr && kind->scalar == "pcie") return OkStatus();
    return Error(
        "the GPUs have no NVLink, but the hosts of --host do; name a cluster file whose hosts have "
        "'scale_up: {kind: pcie}'");
  }

  // Sets the kind, and removes keys of another one.
  Status Mend(const std::string& kind) {
    YamlNode& hosts = Entry(&root_, "hosts");
    YamlNode& scale_up = Entry(&hosts.entries[0].second, "scale_up");
    const bool mesh = kind == "nvlink-mesh";
    std::erase_if(scale_up.entries, [mesh](const auto& entry) {
      const std::string& key = entry.first.scalar;
      return mesh ? key == "switches" || key == "multicast" || key == "wiring" || key == "links"
                  : key == "wiring" || key == "links";
    });
    RETURN_IF_ERROR(Set("scale_up.kind", kind));
    if (!mesh && scale_up.Find("switches") == nullptr) {
      out_.notes.push_back("the number of NVSwitches is not in the matrix; 4 are assumed");
      return Set("scale_up.switches", "4");
    }
    return OkStatus();
  }

  static YamlNode& Entry(YamlNode* map, const std::string& key) {
    for (auto& [name, value] : map->entries) {
      if (name.scalar == key) return value;
    }
    YamlNode name;
    name.kind = YamlNode::Kind::kScalar;
    name.scalar = key;
    YamlNode value;
    value.kind = YamlNode::Kind::kMap;
    map->entries.emplace_back(std::move(name), std::move(value));
    return map->entries.back().second;
  }

  Status SetNics() {
    std::set<size_t> near;
    std::vector<std::string> others;
    for (size_t nic = 0; nic < matrix_.nics.size(); ++nic) {
      const bool on_switch = std::any_of(
          matrix_.paths.begin(), matrix_.paths.end(),
          [nic](const auto& paths) { return paths[nic] == "PIX" || paths[nic] == "PXB"; });
      if (on_switch) {
        near.insert(nic);
      } else {
        others.push_back(matrix_.nics[nic]);
      }
    }
    if (near.empty()) {
      out_.notes.push_back("no NIC is on a PCIe switch with a GPU; those of --host stay");
      return OkStatus();
    }
    if (!others.empty()) {
      out_.notes.push_back(fmt::format("left out: {} without a GPU on their PCIe switch ({})",
                                       Plural(others.size(), "NIC"), Join(others)));
    }
    RETURN_IF_ERROR(Set("nics.count", fmt::format("{}", near.size())));
    const int gpus = GpusOfASwitch(matrix_, near);
    if (gpus == 0 || matrix_.gpus % gpus != 0) return OkStatus();
    return Set("board.gpus_per_switch", fmt::format("{}", gpus));
  }

  Status SetSockets() {
    std::set<std::string> cpus(matrix_.cpus.begin(), matrix_.cpus.end());
    cpus.erase("");
    cpus.erase("N/A");
    const auto sockets = static_cast<int>(cpus.size());
    if (sockets == 0 || sockets > 8 || matrix_.gpus % sockets != 0) return OkStatus();
    return Set("board.sockets", fmt::format("{}", sockets));
  }

  int Links(int a, int b) const {
    return matrix_.links[static_cast<size_t>(a)][static_cast<size_t>(b)];
  }

  const GpuMatrix& matrix_;
  YamlNode root_;
  const Bandwidth link_;
  std::string kind_;
  ClusterText out_;
};

}  // namespace

Result<GpuMatrix> ParseGpuMatrix(const std::string& text, const std::string& path) {
  return Parser(text, path).Parse();
}

Result<ClusterText> ClusterOfGpuMatrix(const GpuMatrix& matrix, const YamlNode& base,
                                       Bandwidth link, const std::string& name) {
  return Writer(matrix, base, link).Write(name);
}

}  // namespace drydock
