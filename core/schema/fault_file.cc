#include "core/schema/fault_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/schema/limits.h"
#include "core/schema/link_end.h"

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

  // Appends the fault, and its end if it has one.
  void Read(std::vector<Fault>* faults) {
    Fault fault;
    ReadPlace(&fault.links);
    ReadChange(&fault);
    reader_.ReadOptional("at", &fault.at);
    Time until;
    reader_.ReadOptional("until", &until);
    if (reader_.Has("until") && until <= fault.at) {
      reader_.Fail("until", fmt::format("'until' is {}, which is not after 'at', {}",
                                        ToString(until), ToString(fault.at)));
    }
    reader_.Finish();
    faults->push_back(fault);
    if (!reader_.Has("until")) return;
    fault.at = until;
    fault.ends = true;
    faults->push_back(fault);
  }

 private:
  void ReadPlace(std::vector<int>* links) {
    const YamlNode* cable = reader_.Take("link", false);
    const YamlNode* at = reader_.Take("switch", false);
    const YamlNode* nic = reader_.Take("nic", false);
    if ((cable != nullptr) + (at != nullptr) + (nic != nullptr) != 1) {
      return reader_.Fail("link", "a fault names one of 'link', 'switch' and 'nic'");
    }
    if (cable != nullptr) return ReadCable(*cable, links);
    LinkEnd end;
    const YamlNode& node = at != nullptr ? *at : *nic;
    if (!ReadEnd(node, &end)) return;
    if (end.is_switch != (at != nullptr)) {
      return diagnostics_->Add(node.ErrorHere(fmt::format(
          "'{}' is {}", node.scalar, end.is_switch ? "a switch, not a NIC" : "a NIC, no switch")));
    }
    AddLinks([&](const FabricLink& link) { return Same(link.a, end) || Same(link.b, end); }, links);
  }

  void ReadCable(const YamlNode& node, std::vector<int>* links) {
    if (node.kind != YamlNode::Kind::kList || node.items.size() != 2) {
      return reader_.Fail("link", "'link' must be its two ends, as [leaf0, spine1]");
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
      reader_.Fail("bit_errors", "a fault is either 'rate' or 'bit_errors'; write two");
    }
    reader_.ReadOptional("rate", &fault->rate);
    if (reader_.Has("rate")) {
      fault->kind = Fault::Kind::kRate;
      CheckRate("rate", fault->rate, &reader_);
    }
    reader_.ReadOptional("bit_errors", &fault->bit_errors);
    if (reader_.Has("bit_errors")) {
      fault->kind = Fault::Kind::kErrors;
      if (!(fault->bit_errors > 0 && fault->bit_errors <= 0.01)) {
        reader_.Fail("bit_errors",
                     "'bit_errors' is the chance of a bit to arrive wrong, above 0 "
                     "and at most 0.01");
      }
    }
  }

  YamlReader reader_;
  const Topology& topology_;
  Diagnostics* diagnostics_;
};

}  // namespace

void ReadFaults(const YamlNode& node, Topology* topology, Diagnostics* diagnostics) {
  if (node.kind != YamlNode::Kind::kList) {
    return diagnostics->Add(node.ErrorHere("'faults' must be a list"));
  }
  for (const YamlNode& item : node.items) {
    FaultReader(item, *topology, diagnostics).Read(&topology->faults);
  }
  std::stable_sort(topology->faults.begin(), topology->faults.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
}

}  // namespace drydock
