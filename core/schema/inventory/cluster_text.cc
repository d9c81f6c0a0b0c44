#include "core/schema/inventory/cluster_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr double kPsPerMetre = 5000;  // two thirds of the speed of light, as fabric: has it
constexpr size_t kShown = 4;

std::string Quoted(const std::string& text) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.scalar = text;
  return ToYaml(node);
}

const YamlNode* Find(const YamlNode& root, std::initializer_list<const char*> path) {
  const YamlNode* at = &root;
  for (const char* key : path) {
    if (at == nullptr || at->kind != YamlNode::Kind::kMap) return nullptr;
    at = at->Find(key);
  }
  return at;
}

// The first few names, and the number of all.
std::string Some(const std::vector<std::string>& names) {
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  if (names.size() > kShown) shown.push_back("...");
  return Join(shown);
}

class Writer {
 public:
  Writer(const Inventory& inventory, const YamlNode& base) : inventory_(inventory), base_(base) {}

  Result<ClusterText> Write(int nics, Bandwidth rate, const std::string& name) {
    out_.notes = inventory_.notes;
    RETURN_IF_ERROR(CheckNames());
    RETURN_IF_ERROR(NumberNics(nics));
    const YamlNode* hosts = Find(base_, {"hosts"});
    const YamlNode* latency = Find(base_, {"fabric", "leaf", "latency"});
    const YamlNode* buffer = Find(base_, {"fabric", "leaf", "buffer"});
    const YamlNode* cable = Find(base_, {"fabric", "leaf", "cable"});
    if (hosts == nullptr || hosts->entries.empty() || latency == nullptr || buffer == nullptr ||
        cable == nullptr) {
      return Error(
          "the cluster file of --host has no 'fabric: leaf', whose latency, buffer and cable the "
          "switches get; name one with leaf switches");
    }
    ASSIGN_OR_RETURN(const double metres, Metres(cable->scalar));
    std::string& text = out_.text;
    text = fmt::format("cluster: {{name: {}, host: {}, hosts: {}}}\nhosts:\n  {}: {}\n",
                       Quoted(name), Quoted(hosts->entries[0].first.scalar), host_of_.size(),
                       Quoted(hosts->entries[0].first.scalar), ToYaml(hosts->entries[0].second));
    for (const std::string& host : inventory_.hosts) {
      if (host_of_.count(host) > 0)
        text += fmt::format("# host{} is {}\n", host_of_[host], Printable(host));
    }
    text += "fabric:\n  kind: explicit\n  switches:\n";
    const std::map<std::string, int> tiers = Tiers();
    for (const std::string& name_of_switch : inventory_.switches) {
      const auto tier = tiers.find(name_of_switch);
      if (tier == tiers.end()) {
        lonely_.push_back(name_of_switch);
        continue;
      }
      text += fmt::format("    - {{name: {}, latency: {}, buffer: {}, tier: {}}}\n",
                          Quoted(name_of_switch), latency->scalar, buffer->scalar, tier->second);
    }
    text += "  links:\n";
    for (const Cable& each : inventory_.cables) WriteLink(each, rate, metres, tiers);
    if (const YamlNode* transport = Find(base_, {"transport"})) {
      text += "transport: " + ToYaml(*transport) + "\n";
    }
    AddNotes(rate, cable->scalar);
    return std::move(out_);
  }

 private:
  static std::string Printable(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
    }
    return text;
  }

  // A cluster file is text: it has no control characters and is UTF-8.
  Status CheckNames() const {
    std::set<std::string> known;
    for (const Cable& cable : inventory_.cables) {
      for (const CableEnd* end : {&cable.a, &cable.b}) {
        for (const std::string& name : {end->device, end->port}) {
          if (!known.insert(name).second) continue;
          if (name == Printable(name) && ParseYaml("a: " + Quoted(name), "").ok()) continue;
          return Error(
              fmt::format("the name '{}' has a character that is not text; give the device "
                          "or port another name",
                          Printable(name)));
        }
      }
    }
    return OkStatus();
  }

  static Result<double> Metres(const std::string& text) {
    const size_t unit = text.find_first_not_of("0123456789.");
    if (unit == text.npos || unit == 0 ||
        text.find('m', unit) != text.find_first_not_of(' ', unit)) {
      return Error(
          fmt::format("the cable '{}' of --host's leaf switches is no length in metres", text));
    }
    return std::stod(text.substr(0, unit));
  }

  // NICs of a host in the order of their names. Hosts with another number of NICs are left out.
  Status NumberNics(int nics) {
    std::map<std::string, std::vector<std::string>> ports;
    const std::set<std::string> hosts(inventory_.hosts.begin(), inventory_.hosts.end());
    for (const Cable& cable : inventory_.cables) {
      for (const CableEnd* end : {&cable.a, &cable.b}) {
        if (hosts.count(end->device) > 0) ports[end->device].push_back(end->port);
      }
    }
    std::map<size_t, std::vector<std::string>> others;  // by number of cables
    for (const std::string& host : inventory_.hosts) {
      std::vector<std::string>& of_host = ports[host];
      if (of_host.size() != static_cast<size_t>(nics)) {
        others[of_host.size()].push_back(host);
        continue;
      }
      std::sort(of_host.begin(), of_host.end(), NameLess);
      const size_t number = host_of_.size();
      host_of_[host] = number;
      for (size_t n = 0; n < of_host.size(); ++n) nic_of_[{host, of_host[n]}] = n;
    }
    std::vector<std::string> found;
    for (const auto& [count, names] : others) {
      found.push_back(fmt::format("{} with {} ({})", names.size(), count, Some(names)));
    }
    if (host_of_.empty()) {
      return Error(
          fmt::format("no host has {} cables, as the hosts of --host have NICs; there are {}; give "
                      "--host a cluster file whose hosts have the number of NICs of yours",
                      nics, found.empty() ? "no hosts" : Join(found)));
    }
    for (const std::string& each : found) {
      out_.notes.push_back("hosts with other numbers of cables are left out: " + each);
    }
    return OkStatus();
  }

  // The distance of each switch from the nearest host, less one.
  std::map<std::string, int> Tiers() const {
    std::map<std::string, std::vector<std::string>> neighbors;
    std::map<std::string, int> tiers;
    std::vector<std::string> front;
    const std::set<std::string> switches(inventory_.switches.begin(), inventory_.switches.end());
    for (const Cable& cable : inventory_.cables) {
      for (const auto& [from, to] :
           {std::pair(&cable.a, &cable.b), std::pair(&cable.b, &cable.a)}) {
        if (switches.count(to->device) == 0) continue;
        if (switches.count(from->device) > 0) neighbors[from->device].push_back(to->device);
        if (host_of_.count(from->device) > 0 && tiers.emplace(to->device, 0).second) {
          front.push_back(to->device);
        }
      }
    }
    for (int tier = 1; !front.empty(); ++tier) {
      std::vector<std::string> next;
      for (const std::string& at : front) {
        for (const std::string& to : neighbors[at]) {
          if (tiers.emplace(to, tier).second) next.push_back(to);
        }
      }
      front = std::move(next);
    }
    return tiers;
  }

  void WriteLink(const Cable& cable, Bandwidth nic_rate, double default_metres,
                 const std::map<std::string, int>& tiers) {
    std::string ends[2];
    for (const auto& [end, text] : {std::pair(&cable.a, &ends[0]), {&cable.b, &ends[1]}}) {
      const auto host = host_of_.find(end->device);
      if (host != host_of_.end()) {
        *text = fmt::format("host{}/nic{}", host->second, nic_of_[{end->device, end->port}]);
      } else if (tiers.count(end->device) > 0) {
        *text = Quoted(end->device);
      } else {
        ++cut_;  // to a host or a switch that is left out
        return;
      }
    }
    if (cable.a.device == cable.b.device) {
      ++cut_;
      return;
    }
    const bool has_rate = cable.rate.bits_per_second() > 0;
    const bool has_length = cable.metres >= 0;
    without_rate_ += has_rate ? 0 : 1;
    without_length_ += has_length ? 0 : 1;
    const double metres = has_length ? cable.metres : default_metres;
    const auto ps = std::max<int64_t>(1, static_cast<int64_t>(metres * kPsPerMetre));
    out_.text += fmt::format("    - {{from: {}, to: {}, rate: {}, delay: {} ps}}\n", ends[0],
                             ends[1], ToString(has_rate ? cable.rate : nic_rate), ps);
  }

  void AddNotes(Bandwidth rate, const std::string& cable) {
    const auto note = [this](size_t count, const std::string& what) {
      if (count > 0) out_.notes.push_back(fmt::format("{} {}", count, what));
    };
    note(lonely_.size(), "switches that no host reaches are left out: " + Some(lonely_));
    note(cut_, "cables to devices that are left out, or from a device to itself, are left out");
    note(without_rate_,
         fmt::format("cables state no rate: they run at the {} of --host's NICs", ToString(rate)));
    note(without_length_,
         fmt::format("cables state no length: they are {} long, as --host's leaf cables", cable));
  }

  const Inventory& inventory_;
  const YamlNode& base_;
  ClusterText out_;
  std::map<std::string, size_t> host_of_;
  std::map<std::pair<std::string, std::string>, size_t> nic_of_;
  std::vector<std::string> lonely_;
  size_t cut_ = 0, without_rate_ = 0, without_length_ = 0;
};

}  // namespace

Result<ClusterText> ClusterOfInventory(const Inventory& inventory, const YamlNode& base, int nics,
                                       Bandwidth rate, const std::string& name) {
  return Writer(inventory, base).Write(nics, rate, name);
}

}  // namespace drydock
