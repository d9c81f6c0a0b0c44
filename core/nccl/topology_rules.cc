#include "core/nccl/topology_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

enum class Form { kText, kInteger, kNumber, kHex, kBusId, kDeviceClass, kLinkSpeed, kArch };
enum class Need { kRequired, kOptional, kDropped };

struct AttributeRule {
  std::string name;
  Form form = Form::kText;
  Need need = Need::kRequired;
  int64_t low = 0, high = 0;  // kInteger
};
struct ElementRule {
  std::string name;
  std::vector<std::string> children;
  std::vector<AttributeRule> attributes;
};

constexpr int64_t kMaxInteger = INT32_MAX;
constexpr int kMaxGpus = 32;  // ncclNvmlMaxDevices: NCCL does not check the bound

const std::vector<ElementRule>& Rules() {
  using enum Form;
  using enum Need;
  static const std::vector<ElementRule> rules = {
      {"system", {"cpu"}, {{"version", kInteger, kRequired, 1, 1}, {"name", kText, kDropped}}},
      {"cpu",
       {"pci", "nic"},
       {{"host_hash", kHex, kDropped},
        {"numaid", kInteger, kRequired, -1, 127},
        {"affinity", kText, kOptional},
        {"arch", kArch, kRequired},
        {"vendor", kText, kOptional},
        {"familyid", kInteger, kOptional, 0, kMaxInteger},
        {"modelid", kInteger, kOptional, 0, kMaxInteger}}},
      {"pci",
       {"pci", "gpu", "nic", "pcilink"},
       {{"busid", kBusId, kRequired},
        {"class", kDeviceClass, kRequired},
        {"vendor", kHex, kOptional},
        {"device", kHex, kOptional},
        {"subsystem_vendor", kHex, kOptional},
        {"subsystem_device", kHex, kOptional},
        {"link_speed", kLinkSpeed, kOptional},
        {"link_width", kInteger, kOptional, 0, 32},
        {"keep", kText, kDropped}}},
      {"gpu",
       {"nvlink", "c2c"},
       {{"dev", kInteger, kRequired, 0, kMaxGpus - 1},
        {"sm", kInteger, kRequired, 30, 999},
        {"rank", kInteger, kDropped, -1, kMaxInteger},
        {"gdr", kInteger, kOptional, 0, 1},
        {"keep", kText, kDropped}}},
      {"nvlink",
       {},
       {{"target", kText, kRequired},
        {"count", kInteger, kRequired, 1, 64},
        {"tclass", kDeviceClass, kRequired}}},
      {"c2c",
       {},
       {{"bw", kInteger, kRequired, 1, 10'000'000}, {"count", kInteger, kRequired, 1, 64}}},
      {"nic", {"net"}, {{"keep", kText, kDropped}}},
      {"net",
       {},
       {{"name", kText, kRequired},
        {"dev", kInteger, kRequired, 0, 127},
        {"latency", kNumber, kOptional},
        {"speed", kInteger, kOptional, -1, 100'000'000},
        {"port", kInteger, kOptional, 0, 255},
        {"guid", kHex, kOptional},
        {"maxconn", kInteger, kOptional, 1, kMaxInteger},
        {"gdr", kInteger, kOptional, 0, 1},
        {"coll", kInteger, kOptional, 0, 1},
        {"net", kInteger, kDropped, 0, 1},
        {"gin", kInteger, kDropped, 0, 1},
        {"keep", kText, kDropped}}},
      {"pcilink", {}, {{"target", kBusId, kRequired}}},
  };
  return rules;
}

const ElementRule* FindRule(std::string_view name) {
  for (const ElementRule& rule : Rules()) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

bool AllOf(std::string_view text, bool (*predicate)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}
bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsHex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return text.size() <= 16 && AllOf(text, IsHexDigit);
}

// Returns "" if the value has the form, else what it should be.
std::string WrongForm(const AttributeRule& rule, const std::string& value) {
  const char* end = value.data() + value.size();
  switch (rule.form) {
    case Form::kText:
      return value.empty() ? "it is empty" : "";
    case Form::kInteger: {
      int64_t number = 0;
      const auto [stop, error] = std::from_chars(value.data(), end, number);
      const bool whole = error == std::errc() && stop == end;
      if (whole && number >= rule.low && number <= rule.high) return "";
      return fmt::format("it must be a whole number from {} to {}", rule.low, rule.high);
    }
    case Form::kNumber: {
      double number = 0;
      const auto [stop, error] = std::from_chars(value.data(), end, number);
      if (error == std::errc() && stop == end && number >= 0 && number < 1e9) return "";
      return "it must be a number, at least 0";
    }
    case Form::kHex:
      return IsHex(value) ? "" : "it must be hexadecimal: '0x10de'";
    case Form::kBusId:
      return NormalBusId(value).empty() ? "a bus id looks like '0000:1b:00.0'" : "";
    case Form::kDeviceClass:
      return IsHex(value) && value.size() >= 4 ? "" : "a PCI class looks like '0x060400'";
    case Form::kLinkSpeed:
      for (const char* known : {"2.5 GT/s", "5 GT/s", "5.0 GT/s", "8 GT/s", "8.0 GT/s", "16 GT/s",
                                "16.0 GT/s", "32 GT/s", "32.0 GT/s", "64.0 GT/s", "Unknown"}) {
        if (value.starts_with(known)) return "";
      }
      return value.empty() ? "" : "a PCIe speed looks like '16.0 GT/s PCIe'";
    case Form::kArch:
      for (const char* known : {"x86_64", "arm64", "ppc64"}) {
        if (value == known) return "";
      }
      return "valid values are x86_64, arm64, ppc64";
  }
  return "";
}

// A dump leaves an attribute empty if the system did not provide its value.
bool MayBeEmpty(const AttributeRule& rule) { return rule.need != Need::kRequired; }

class Checker {
 public:
  explicit Checker(const std::string& text) : text_(text) {}

  Status Check(const XmlElement& system) {
    if (system.name != "system") {
      Fail(system.location, fmt::format("an NCCL topology is one <system>, not <{}>", system.name));
    } else {
      CheckElement(system);
    }
    return diagnostics_.ToStatus();
  }

 private:
  void Fail(const Location& place, std::string message) {
    diagnostics_.Add(Error(std::move(message), place, LineOf(text_, place)));
  }

  void CheckElement(const XmlElement& element) {
    if (++count_ == kMaxTopologyElements + 1) {
      Fail(element.location,
           fmt::format("more than {} elements, the maximum that NCCL reads", kMaxTopologyElements));
    }
    const ElementRule& rule = *FindRule(element.name);
    CheckAttributes(element, rule);
    for (const XmlElement& child : element.children) {
      const auto& allowed = rule.children;
      if (std::find(allowed.begin(), allowed.end(), child.name) != allowed.end()) {
        CheckElement(child);
      } else {
        Fail(child.location,
             allowed.empty()
                 ? fmt::format("<{}> holds no other element, found <{}>", element.name, child.name)
                 : fmt::format("<{}> cannot hold <{}>{}; it may hold {}", element.name, child.name,
                               DidYouMean(child.name, allowed), Join(allowed)));
      }
    }
    if (element.name == "cpu") CheckProcessor(element);
    if (element.name == "pci") CheckDevice(element);
  }

  void CheckAttributes(const XmlElement& element, const ElementRule& rule) {
    std::vector<std::string> names;
    for (const AttributeRule& attribute : rule.attributes) {
      names.push_back(attribute.name);
      const XmlAttribute* found = element.Find(attribute.name);
      if (found == nullptr) {
        if (attribute.need == Need::kRequired) {
          Fail(element.location,
               fmt::format("<{}> lacks the attribute '{}'", element.name, attribute.name));
        }
        continue;
      }
      if (found->value.empty() && MayBeEmpty(attribute)) continue;
      const std::string wrong = WrongForm(attribute, found->value);
      if (!wrong.empty()) {
        Fail(found->location, fmt::format("'{}' is '{}': {}", attribute.name, found->value, wrong));
      }
    }
    for (const XmlAttribute& attribute : element.attributes) {
      if (std::find(names.begin(), names.end(), attribute.name) != names.end()) continue;
      Fail(attribute.location,
           fmt::format("<{}> has no attribute '{}'{}; it may have {}", element.name, attribute.name,
                       DidYouMean(attribute.name, names), names.empty() ? "none" : Join(names)));
    }
  }

  // NCCL reads missing values from the processor it runs on.
  void CheckProcessor(const XmlElement& cpu) {
    const XmlAttribute* arch = cpu.Find("arch");
    if (arch == nullptr || arch->value != "x86_64") return;
    const XmlAttribute* vendor = cpu.Find("vendor");
    if (vendor == nullptr) return Fail(cpu.location, "an x86_64 <cpu> needs a 'vendor'");
    if (vendor->value != "GenuineIntel") return;
    for (const char* needed : {"familyid", "modelid"}) {
      if (cpu.Find(needed) != nullptr && !cpu.Find(needed)->value.empty()) continue;
      Fail(cpu.location, fmt::format("a <cpu> of Intel needs a '{}'", needed));
    }
  }

  // A device is a switch, or a GPU, or a NIC.
  void CheckDevice(const XmlElement& pci) {
    const XmlElement* device = nullptr;
    for (const XmlElement& child : pci.children) {
      if (device != nullptr) {
        return Fail(child.location, fmt::format("this <pci> is a <{}> already; it cannot hold <{}>",
                                                device->name, child.name));
      }
      if (child.name == "gpu" || child.name == "nic") {
        if (&child != &pci.children.front()) {
          return Fail(
              child.location,
              fmt::format("this <pci> is a switch; its <{}> needs a separate <pci>", child.name));
        }
        device = &child;
      }
    }
    CheckSwitch(pci);
  }

  // topo.cc: ncclTopoAddPci does not descend below a device of these classes.
  void CheckSwitch(const XmlElement& pci) {
    const XmlAttribute* of_device = pci.Find("class");
    const bool holds_devices =
        std::any_of(pci.children.begin(), pci.children.end(),
                    [](const XmlElement& child) { return child.name == "pci"; });
    if (of_device == nullptr || !holds_devices) return;
    for (const auto& [prefix, name] : {std::pair("0x068000", "an NVSwitch"),
                                       {"0x068001", "a processor"},
                                       {"0x03", "a GPU"},
                                       {"0x02", "a NIC"}}) {
      if (!of_device->value.starts_with(prefix)) continue;
      Fail(of_device->location,
           fmt::format("NCCL takes a device of class '{}' for {} and ignores the devices in it",
                       of_device->value, name));
    }
  }

  const std::string& text_;
  Diagnostics diagnostics_;
  int count_ = 0;
};

// Returns the value for NCCL, or "" to leave the attribute out.
std::string Normal(const AttributeRule& rule, const std::string& value) {
  if (rule.form == Form::kBusId) return NormalBusId(value);
  if (rule.name != "target") return value;
  const std::string bus_id = NormalBusId(value);
  return bus_id.empty() ? value : bus_id;
}

void Write(const XmlElement& element, int indent, std::string* out) {
  const ElementRule& rule = *FindRule(element.name);
  *out += fmt::format("{:{}}<{}", "", indent, element.name);
  for (const AttributeRule& attribute : rule.attributes) {
    if (attribute.need == Need::kDropped) continue;
    const XmlAttribute* found = element.Find(attribute.name);
    const std::string value = found == nullptr ? "" : Normal(attribute, found->value);
    const bool always = (element.name == "cpu" && attribute.name != "affinity") ||
                        attribute.name == "link_speed" || attribute.name == "link_width";
    if (!value.empty() || always) *out += fmt::format(" {}=\"{}\"", attribute.name, value);
  }
  if (element.children.empty()) {
    *out += "/>\n";
    return;
  }
  *out += ">\n";
  for (const XmlElement& child : element.children) Write(child, indent + 2, out);
  *out += fmt::format("{:{}}</{}>\n", "", indent, element.name);
}

}  // namespace

std::string NormalBusId(const std::string& text) {
  // A domain of eight digits is NVML's spelling of one with four.
  std::string id = text.size() == 16 && text.starts_with("0000") ? text.substr(4) : text;
  if (id.size() != 12 || id[4] != ':' || id[7] != ':' || id[10] != '.') return "";
  for (size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 7 || i == 10) continue;
    if (!IsHexDigit(id[i])) return "";
    if (id[i] >= 'A' && id[i] <= 'F') id[i] = static_cast<char>(id[i] - 'A' + 'a');
  }
  return id;
}

Status CheckElements(const XmlElement& system, const std::string& text) {
  return Checker(text).Check(system);
}

std::string WriteTopology(const XmlElement& system) {
  std::string out;
  Write(system, 0, &out);
  return out;
}

}  // namespace drydock
