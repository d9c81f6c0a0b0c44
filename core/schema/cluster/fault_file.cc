#include "core/schema/cluster/fault_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"
#include "core/schema/cluster/cluster_limits.h"
#include "core/schema/fabric/limits.h"
#include "core/schema/fabric/link_end.h"

namespace drydock {
namespace {

bool Same(const LinkEnd& a, const LinkEnd& b) {
  return a.is_switch == b.is_switch && a.index == b.index && (a.is_switch || a.nic == b.nic);
}

std::vector<std::string> SwitchNames(const Topology& topology) {
  std::vector<std::string> names;
  for (const FabricSwitch& described : topology.fabric.switches) names.push_back(described.name);
  return names;
}

class FaultReader {
 public:
  FaultReader(const YamlNode& item, const Topology& topology, Diagnostics* diagnostics)
      : reader_(item, "fault", diagnostics), topology_(topology), diagnostics_(diagnostics) {}

  // Appends the fault and, if it ends, its end.
  void Read(Topology* topology, std::vector<SlowGpu>* slow_gpus) {
    if (reader_.Has("gpu") || reader_.Has("host") || reader_.Has("rank")) {
      return ReadSlowGpu(slow_gpus);
    }
    Fault fault;
    ReadPlace(&fault.links);
    ReadChange(&fault);
    const Time until = ReadTimes(&fault.at);
    reader_.Finish();
    topology->faults.push_back(fault);
    if (!reader_.Has("until")) return;
    fault.at = until;
    fault.ends = true;
    topology->faults.push_back(fault);
  }

 private:
  // Reads 'at' into *at. Returns 'until', or zero if the key is absent.
  Time ReadTimes(Time* at) {
    reader_.ReadOptional("at", at);
    Time until;
    reader_.ReadOptional("until", &until);
    if (reader_.Has("until") && until <= *at) {
      reader_.Fail("until", fmt::format("'until' is {}, which is not after 'at', {}",
                                        ToString(until), ToString(*at)));
    }
    return until;
  }

  void ReadSlowGpu(std::vector<SlowGpu>* slow_gpus) {
    SlowGpu slow;
    const YamlNode* gpu = reader_.Take("gpu", false);
    const YamlNode* host = reader_.Take("host", false);
    const YamlNode* rank = reader_.Take("rank", false);
    if ((gpu != nullptr) + (host != nullptr) + (rank != nullptr) != 1) {
      reader_.Fail("host", "a slow GPU is named by one of 'gpu', 'host' and 'rank'");
    } else if (rank != nullptr) {
      ReadRank(*rank, &slow);
    } else {
      ReadGpuPlace(gpu != nullptr ? *gpu : *host, gpu != nullptr, &slow);
    }
    reader_.Read("slowdown", &slow.slowdown);
    if (reader_.Has("slowdown") && !(slow.slowdown >= 1 && slow.slowdown <= kMaxSlowdown)) {
      reader_.Fail("slowdown", "'slowdown' is a factor on the time of compute, from 1 to 1000");
    }
    const Time until = ReadTimes(&slow.at);
    reader_.Finish();
    slow_gpus->push_back(slow);
    if (!reader_.Has("until")) return;
    slow.at = until;
    slow.slowdown = 1;
    slow_gpus->push_back(slow);
  }

  // "host3/gpu2", or "host3".
  void ReadGpuPlace(const YamlNode& node, bool one, SlowGpu* slow) {
    const bool read = one ? ScanNumbers(node.scalar, {"host", "/gpu"}, {&slow->host, &slow->gpu})
                          : ScanNumbers(node.scalar, {"host"}, {&slow->host});
    if (!read) {
      return diagnostics_->Add(
          node.ErrorHere(fmt::format("'{}' is not a {}", node.scalar,
                                     one ? "GPU; write 'host0/gpu0'" : "host; write 'host0'")));
    }
    if (slow->host >= topology_.host_count()) {
      return diagnostics_->Add(node.ErrorHere(fmt::format("there is no host {}; the cluster has {}",
                                                          slow->host, topology_.host_count())));
    }
    const int gpus = topology_.kind_of_host(slow->host).gpus;
    if (slow->gpu < gpus) return;
    diagnostics_->Add(node.ErrorHere(
        fmt::format("host {} has no GPU {}; it has {}", slow->host, slow->gpu, gpus)));
  }

  void ReadRank(const YamlNode& node, SlowGpu* slow) {
    const Placement placement(topology_);
    const Result<int64_t> rank = AsInteger(node);
    const auto gpus = static_cast<int64_t>(placement.slots.size());
    if (!rank.ok()) return diagnostics_->Add(rank.error());
    if (*rank < 0 || *rank >= gpus) {
      return diagnostics_->Add(
          node.ErrorHere(fmt::format("there is no rank {}; the cluster has {} GPUs", *rank, gpus)));
    }
    slow->host = placement.of(static_cast<int>(*rank)).host;
    slow->gpu = placement.of(static_cast<int>(*rank)).gpu;
  }

  void ReadPlace(std::vector<int>* links) {
    const YamlNode* cable = reader_.Take("link", false);
    const YamlNode* at = reader_.Take("switch", false);
    const YamlNode* nic = reader_.Take("nic", false);
    if ((cable != nullptr) + (at != nullptr) + (nic != nullptr) != 1) {
      return reader_.Fail("link",
                          "a fault names one of 'link', 'switch', 'nic', 'gpu', 'host' and 'rank'");
    }
    if (cable != nullptr) return ReadCable(*cable, links);
    LinkEnd end;
    const YamlNode& node = at != nullptr ? *at : *nic;
    if (!ReadEnd(node, &end)) return;
    if (end.is_switch != (at != nullptr)) {
      return diagnostics_->Add(node.ErrorHere(
          fmt::format("'{}' is {}", node.scalar,
                      end.is_switch ? "a switch, not a NIC" : "a NIC, not a switch")));
    }
    AddLinks([&](const FabricLink& link) { return Same(link.a, end) || Same(link.b, end); }, links);
  }

  void ReadCable(const YamlNode& node, std::vector<int>* links) {
    if (node.kind != YamlNode::Kind::kList || node.items.size() != 2) {
      return reader_.Fail("link", "'link' must be a list of its two ends, such as [leaf0, spine1]");
    }
    LinkEnd a, b;
    if (!ReadEnd(node.items[0], &a) || !ReadEnd(node.items[1], &b)) return;
    AddLinks(
        [&](const FabricLink& link) {
          return (Same(link.a, a) && Same(link.b, b)) || (Same(link.a, b) && Same(link.b, a));
        },
        links);
    if (links->empty()) {
      reader_.Fail("link", fmt::format("no cable joins '{}' and '{}'", node.items[0].scalar,
                                       node.items[1].scalar));
    }
  }

  bool ReadEnd(const YamlNode& node, LinkEnd* end) {
    const Result<LinkEnd> parsed = ParseLinkEnd(node, topology_, SwitchNames(topology_));
    if (!parsed.ok()) {
      diagnostics_->Add(parsed.error());
      return false;
    }
    *end = *parsed;
    return true;
  }

  template <typename Chosen>
  void AddLinks(Chosen chosen, std::vector<int>* links) {
    for (size_t i = 0; i < topology_.fabric.links.size(); ++i) {
      if (chosen(topology_.fabric.links[i])) links->push_back(static_cast<int>(i));
    }
  }

  void ReadChange(Fault* fault) {
    if (reader_.Has("rate") && reader_.Has("bit_errors")) {
      reader_.Fail("bit_errors", "a fault has either 'rate' or 'bit_errors'; write two faults");
    }
    reader_.ReadOptional("rate", &fault->rate);
    if (reader_.Has("rate")) {
      fault->kind = Fault::Kind::kRate;
      CheckRate("rate", fault->rate, &reader_);
    }
    reader_.ReadOptional("bit_errors", &fault->bit_errors);
    if (reader_.Has("bit_errors")) {
      fault->kind = Fault::Kind::kErrors;
      if (!(fault->bit_errors > 0 && fault->bit_errors <= kMaxBitErrors)) {
        reader_.Fail("bit_errors",
                     "'bit_errors' is the probability that a bit arrives wrong, above 0 "
                     "and at most 0.01");
      }
    }
  }

  YamlReader reader_;
  const Topology& topology_;
  Diagnostics* diagnostics_;
};

}  // namespace

void ReadFaults(const YamlNode& node, Topology* topology, std::vector<SlowGpu>* slow_gpus,
                Diagnostics* diagnostics) {
  if (node.kind != YamlNode::Kind::kList) {
    return diagnostics->Add(node.ErrorHere("'faults' must be a list"));
  }
  for (const YamlNode& item : node.items) {
    FaultReader(item, *topology, diagnostics).Read(topology, slow_gpus);
  }
  std::stable_sort(slow_gpus->begin(), slow_gpus->end(),
                   [](const SlowGpu& a, const SlowGpu& b) { return a.at < b.at; });
  std::stable_sort(topology->faults.begin(), topology->faults.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
}

}  // namespace drydock
