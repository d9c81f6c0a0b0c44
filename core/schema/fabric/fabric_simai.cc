// Fabrics from SimAI's topology files.
//
//   nodes gpus_per_server nvswitches switches links GPU
//   ids of the NVSwitches and of the switches
//   source destination rate delay error_rate        (one line per link, for both directions)
//
// GPUs have the first ids, server by server; each GPU has its own NIC. Links between GPUs and
// NVSwitches are inside a host; the cluster file describes them, and the reader skips them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"
#include "core/schema/fabric/limits.h"

namespace drydock {
namespace {

class SimaiReader {
 public:
  SimaiReader(const std::string& name, const std::string& text, const Layer& layer,
              Topology* topology)
      : name_(name), lines_(text), layer_(layer), topology_(*topology) {}

  Status Read() {
    RETURN_IF_ERROR(ReadCounts());
    RETURN_IF_ERROR(ReadSwitches());
    for (int64_t i = 0; i < links_; ++i) {
      if (!NextLine())
        return Bad(fmt::format("the first line announces {} links, but there are {}", links_, i));
      RETURN_IF_ERROR(ReadLink());
    }
    if (NextLine())
      return Bad(
          fmt::format("there are more links than the {} that the first line announces", links_));
    return OkStatus();
  }

 private:
  // Reads the next line that is not blank.
  bool NextLine() {
    while (std::getline(lines_, line_)) {
      ++number_;
      fields_.clear();
      std::istringstream words(line_);
      for (std::string word; words >> word;) fields_.push_back(word);
      if (!fields_.empty()) return true;
    }
    line_.clear();
    return false;
  }

  Error Bad(const std::string& message) const { return Error(message, {name_, number_, 1}, line_); }

  // Returns the field as a number >= 0; -1 if it is not a number.
  int64_t Number(size_t field) const {
    if (field >= fields_.size() || fields_[field].size() > 9) return -1;
    int64_t value = 0;
    for (const char c : fields_[field]) {
      if (c < '0' || c > '9') return -1;
      value = value * 10 + (c - '0');
    }
    return value;
  }

  Status ReadCounts() {
    if (!NextLine() || fields_.size() < 5) {
      return Bad(
          "a SimAI topology begins with: nodes gpus_per_server nvswitches switches links GPU");
    }
    for (size_t i = 0; i < 5; ++i) {
      if (Number(i) < 0) return Bad(fmt::format("'{}' is not a count", fields_[i]));
    }
    const int64_t nodes = Number(0), per_server = Number(1), nvswitches = Number(2);
    switches_ = Number(3);
    links_ = Number(4);
    gpus_ = nodes - nvswitches - switches_;
    if (gpus_ != CountNics(topology_)) {
      return Bad(
          fmt::format("the topology has {} GPUs with a NIC each, but the cluster has {} NICs",
                      gpus_, CountNics(topology_)));
    }
    const int nics = topology_.kind_of_host(0).nics.count;
    if (per_server != nics) {
      return Bad(
          fmt::format("the topology has {} GPUs per server, but the cluster's hosts have {} NICs",
                      per_server, nics));
    }
    nvswitches_ = nvswitches;
    return OkStatus();
  }

  Status ReadSwitches() {
    if (nvswitches_ + switches_ == 0) return OkStatus();
    if (!NextLine() || static_cast<int64_t>(fields_.size()) != nvswitches_ + switches_) {
      return Bad(fmt::format("the second line must list {} NVSwitches and {} switches", nvswitches_,
                             switches_));
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      const int64_t id = Number(i);
      if (id < gpus_) return Bad(fmt::format("'{}' is not the id of a switch", fields_[i]));
      const bool inside = static_cast<int64_t>(i) < nvswitches_;
      const int index = inside ? kInsideAHost : static_cast<int>(topology_.fabric.switches.size());
      if (!switch_of_.emplace(id, index).second) {
        return Bad(fmt::format("{} is listed twice", id));
      }
      if (inside) continue;
      topology_.fabric.switches.push_back(
          {fmt::format("switch{}", id), 0, layer_.latency, layer_.buffer});
    }
    return OkStatus();
  }

  // Returns nothing for a node inside a host.
  Result<std::optional<LinkEnd>> End(size_t field) const {
    const int64_t id = Number(field);
    if (id >= 0 && id < gpus_) {
      const int nics = topology_.kind_of_host(0).nics.count;
      return std::optional<LinkEnd>(
          {false, static_cast<int>(id / nics), static_cast<int>(id % nics)});
    }
    const auto found = switch_of_.find(id);
    if (found == switch_of_.end()) return Bad(fmt::format("there is no node {}", fields_[field]));
    if (found->second == kInsideAHost) return std::optional<LinkEnd>();
    return std::optional<LinkEnd>({true, found->second, 0});
  }

  Status ReadLink() {
    if (fields_.size() != 5) return Bad("a link is: source destination rate delay error_rate");
    ASSIGN_OR_RETURN(const std::optional<LinkEnd> a, End(0));
    ASSIGN_OR_RETURN(const std::optional<LinkEnd> b, End(1));
    if (!a || !b) return OkStatus();
    const Result<Bandwidth> rate = ParseBandwidth(fields_[2]);
    if (!rate.ok()) return Bad(rate.error().message());
    if (*rate < kMinRate) return Bad(fmt::format("'{}' is below 1 Mbps", fields_[2]));
    const Result<Time> delay = ParseTime(fields_[3]);
    if (!delay.ok()) return Bad(delay.error().message());
    if (*delay < Time::Ps(1) || *delay > Time::Us(1000000)) {
      return Bad(fmt::format("'{}' is not between 1 ps and 1 s", fields_[3]));
    }
    if (fields_[4].find_first_not_of("0.") != std::string::npos) {
      return Bad(fmt::format(
          "the error rate '{}' is not read here; write it as 'bit_errors' under 'faults'",
          fields_[4]));
    }
    if (a->is_switch && b->is_switch && a->index == b->index) {
      return Bad(fmt::format("node {} is joined to itself", fields_[0]));
    }
    topology_.fabric.links.push_back({*a, *b, *rate, *delay});
    return OkStatus();
  }

  static constexpr int kInsideAHost = -1;

  const std::string name_;
  std::istringstream lines_;
  std::string line_;
  std::vector<std::string> fields_;
  int number_ = 0;
  const Layer layer_;
  Topology& topology_;
  int64_t gpus_ = 0, nvswitches_ = 0, switches_ = 0, links_ = 0;
  std::map<int64_t, int> switch_of_;  // by id; kInsideAHost for NVSwitches
};

}  // namespace

void MakeSimai(FabricContext* context) {
  YamlReader* reader = context->reader;
  const YamlNode* node = reader->Take("file", true);
  Layer layer;
  reader->Read("switch_latency", &layer.latency);
  CheckLatency("switch_latency", layer.latency, reader);
  reader->Read("switch_buffer", &layer.buffer);
  if (node == nullptr || context->topology->host_count() == 0) return;
  const Result<std::string> name = AsString(*node);
  if (!name.ok()) return context->diagnostics->Add(name.error());
  const std::optional<std::string> text = context->fetch(*name, *node);
  if (!text) return;  // reported
  const Status read = SimaiReader(*name, *text, layer, context->topology).Read();
  if (!read.ok()) context->diagnostics->Add(read.error());
}

}  // namespace drydock
