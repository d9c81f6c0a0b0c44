#include "core/model/fabric/transport_attributes_page.h"

#include <fmt/format.h>

#include <string_view>

#include "core/model/fabric/transport_attribute_table.h"

namespace drydock {
namespace {

using Kind = TransportAttribute::Kind;

constexpr char kOpening[] =
    R"(# Attributes of the packet network

<!-- Printed by exec-engine --transport-attributes. Edit
core/model/fabric/transport_attribute_table.cc, then print this page again. -->

A cluster file sets these attributes under `transport: attributes:`, by class and name:

```yaml
transport:
  congestion_control: dcqcn
  attributes:
    Dcqcn::AlphaInterval: 1 us
    FabricSwitch::EcnAtDequeue: true
```

Times and rates carry their unit. Other values are in the unit that the table states. The
attributes of an algorithm have an effect only where `congestion_control` names that algorithm.

)";

struct Section {
  std::string_view attributes;  // the class
  std::string_view title;
};

constexpr Section kSections[] = {
    {"RdmaTransport", "Queue pairs"},
    {"FabricSwitch", "Switches"},
    {"FabricNode", "Ports of switches and hosts"},
    {"FaultInjector", "Faults"},
};

std::string ClassOf(const TransportAttribute& attribute) {
  return attribute.name.substr(0, attribute.name.find(':'));
}

std::string RangeOf(const TransportAttribute& attribute) {
  if (attribute.kind == Kind::kFlag) return "true, false";
  if (attribute.min.empty() && attribute.max.empty()) return "any";
  if (attribute.max.empty()) return fmt::format("at least {}", attribute.min);
  return fmt::format("{} to {}", attribute.min, attribute.max);
}

std::string UnitOf(const TransportAttribute& attribute) {
  if (attribute.kind == Kind::kTime) return "time";
  if (attribute.kind == Kind::kRate) return "rate";
  return attribute.unit;
}

std::string AttributesOf(std::string_view owner) {
  std::string out = "| attribute | unit | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const TransportAttribute& each : TransportAttributes()) {
    if (ClassOf(each) != owner || each.kind == Kind::kDerived) continue;
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", each.name, UnitOf(each),
                       each.default_value, RangeOf(each), each.help);
  }
  return out;
}

std::string CongestionControls() {
  std::string out = "## Congestion control\n\n| `congestion_control` | algorithm |\n|---|---|\n";
  for (const CongestionAlgorithm& each : CongestionAlgorithms()) {
    out += fmt::format("| `{}` | {} |\n", ToString(each.control), each.summary);
  }
  for (const CongestionAlgorithm& each : CongestionAlgorithms()) {
    if (each.attributes.empty()) continue;
    out += fmt::format("\n### `{}`\n\n{}", ToString(each.control), AttributesOf(each.attributes));
  }
  return out;
}

std::string Derived() {
  std::string out =
      "## Decided by other keys\n\nA cluster file must not set these attributes.\n\n"
      "| attribute | decided by |\n|---|---|\n";
  for (const TransportAttribute& each : TransportAttributes()) {
    if (each.kind != Kind::kDerived) continue;
    out += fmt::format("| `{}` | {} |\n", each.name, each.derived_from);
  }
  return out;
}

}  // namespace

std::string TransportAttributesPage() {
  std::string out = kOpening;
  for (const Section& each : kSections) {
    out += fmt::format("## {}\n\n{}\n", each.title, AttributesOf(each.attributes));
  }
  return out + CongestionControls() + "\n" + Derived();
}

}  // namespace drydock
