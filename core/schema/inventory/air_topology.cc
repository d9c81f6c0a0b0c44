// Topologies of NVIDIA Air, as DOT or JSON.
//
//   graph network {
//     "leaf01" [function="leaf" os="cumulus-vx-5.16.1"]
//     "leaf01":"swp1" -- "server01":"eth1"
//   }
//
//   {"content": {"nodes": {"leaf01": {"os": "cumulus-vx-5.16.1"}},
//                "links": [[{"node": "leaf01", "interface": "swp1"},
//                           {"node": "server01", "interface": "eth1"}]]}}
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"
#include "core/schema/inventory/inventory.h"

namespace drydock {
namespace {

struct Device {
  std::string function, os;  // as the file states them; may be empty
};

struct AirFile {
  std::map<std::string, Device> devices;
  std::vector<std::pair<CableEnd, CableEnd>> links;
  size_t outside = 0;  // links that leave the simulation
};

// Splits DOT into words, quoted or not, and punctuation.
class DotReader {
 public:
  DotReader(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  Result<AirFile> Read() {
    Next();
    while (!token_.empty() && token_ != "{") Next();  // "strict graph name"
    if (token_.empty()) return Bad("a topology of NVIDIA Air begins with 'graph NAME {'");
    Next();
    while (token_ != "}" || quoted_) {
      if (token_.empty()) return Bad("the '}' of the graph is missing");
      if (token_ == ";" && !quoted_) {
        Next();
        continue;
      }
      RETURN_IF_ERROR(ReadStatement());
    }
    return std::move(out_);
  }

 private:
  Error Bad(const std::string& message) const { return Error(message, {path_, line_, 0}); }
  bool Is(const char* punctuation) const { return !quoted_ && token_ == punctuation; }

  void Next() {
    token_.clear();
    quoted_ = false;
    SkipBlanks();
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '"') {
      quoted_ = true;
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        if (text_[at_] == '\n') ++line_;
        token_ += text_[at_];
      }
      ++at_;
      return;
    }
    if (text_.compare(at_, 2, "--") == 0 || text_.compare(at_, 2, "->") == 0) {
      token_ = "--";
      at_ += 2;
      return;
    }
    if (std::string("{}[]=;,:").find(c) != std::string::npos) {
      token_ = c;
      ++at_;
      return;
    }
    const size_t end = std::min(text_.find_first_of(" \t\r\n{}[]=;,:\"", at_), text_.size());
    token_ = text_.substr(at_, end - at_);
    at_ = end;
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (c == '#' || text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        const size_t end = std::min(text_.find("*/", at_), text_.size());
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                        text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = std::min(end + 2, text_.size());
      } else {
        return;
      }
    }
  }

  // A device with its attributes, a cable, or an attribute of the graph.
  Status ReadStatement() {
    const std::string name = token_;
    const bool keyword = !quoted_ && (name == "node" || name == "edge" || name == "graph");
    if (!quoted_ && std::string("{}[]=;,:--").find(name) != std::string::npos) {
      return Bad(fmt::format("expected a device, not '{}'", Printable(name)));
    }
    Next();
    if (Is("=")) {  // of the graph
      Next();
      Next();
      return OkStatus();
    }
    CableEnd from = {name, ""};
    RETURN_IF_ERROR(ReadPort(&from));
    if (Is("--")) {
      Next();
      CableEnd to = {token_, ""};
      if (token_.empty()) return Bad("expected the device of the other end");
      Next();
      RETURN_IF_ERROR(ReadPort(&to));
      out_.devices.try_emplace(from.device);
      out_.devices.try_emplace(to.device);
      out_.links.emplace_back(from, to);
      Device ignored;
      return ReadAttributes(&ignored);
    }
    Device device;
    RETURN_IF_ERROR(ReadAttributes(&device));
    if (!keyword) out_.devices[name] = device;
    return OkStatus();
  }

  Status ReadPort(CableEnd* end) {
    if (!Is(":")) return OkStatus();
    Next();
    if (token_.empty()) return Bad("expected a port after ':'");
    end->port = token_;
    Next();
    return OkStatus();
  }

  Status ReadAttributes(Device* device) {
    if (!Is("[")) return OkStatus();
    Next();
    while (!Is("]")) {
      if (token_.empty()) return Bad("the ']' of the attributes is missing");
      if (Is(",") || Is(";")) {
        Next();
        continue;
      }
      const std::string key = token_;
      Next();
      if (!Is("=")) continue;  // without a value
      Next();
      if (key == "function" || key == "role") device->function = token_;
      if (key == "os") device->os = token_;
      Next();
    }
    Next();
    return OkStatus();
  }

  const std::string& text_;
  const std::string path_;
  size_t at_ = 0;
  int line_ = 1;
  std::string token_;
  bool quoted_ = false;
  AirFile out_;
};

std::string TextOf(const YamlNode& node, const char* key) {
  const YamlNode* found = node.kind == YamlNode::Kind::kMap ? node.Find(key) : nullptr;
  return found != nullptr && found->kind == YamlNode::Kind::kScalar ? found->scalar : "";
}

// JSON is YAML.
Result<AirFile> ReadJson(const std::string& text, const std::string& path) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, path));
  const YamlNode* content = root.kind == YamlNode::Kind::kMap ? root.Find("content") : nullptr;
  const YamlNode& topology = content == nullptr ? root : *content;
  const bool is_map = topology.kind == YamlNode::Kind::kMap;
  const YamlNode* nodes = is_map ? topology.Find("nodes") : nullptr;
  const YamlNode* links = is_map ? topology.Find("links") : nullptr;
  if (nodes == nullptr || links == nullptr || nodes->kind != YamlNode::Kind::kMap ||
      links->kind != YamlNode::Kind::kList) {
    return topology.ErrorHere("a topology of NVIDIA Air has 'nodes' and 'links'");
  }
  AirFile out;
  for (const auto& [name, node] : nodes->entries) {
    out.devices[name.scalar] = {TextOf(node, "function"), TextOf(node, "os")};
  }
  for (const YamlNode& link : links->items) {
    if (link.kind != YamlNode::Kind::kList || link.items.size() != 2) {
      return link.ErrorHere("a link is a list of two ends");
    }
    std::vector<CableEnd> ends;
    for (const YamlNode& end : link.items) {
      const std::string device = TextOf(end, "node");
      if (device.empty()) continue;  // "exit", "unconnected"
      if (!out.devices.contains(device)) {
        return end.ErrorHere(fmt::format("'nodes' has no '{}'", Printable(device)));
      }
      ends.push_back({device, TextOf(end, "interface")});
    }
    if (ends.size() == 2) {
      out.links.emplace_back(ends[0], ends[1]);
    } else {
      ++out.outside;
    }
  }
  return out;
}

enum class Role { kHost, kSwitch, kManagement, kUnknown };

Role RoleOf(const std::string& name, const Device& device, const std::string& hosts) {
  const auto begins = [](const std::string& text, const char* with) {
    return text.starts_with(with);
  };
  if (begins(device.function, "oob") || begins(device.function, "mgmt") ||
      begins(name, "oob-mgmt") || begins(name, "netq-ts") || device.function == "fake") {
    return Role::kManagement;
  }
  if (!hosts.empty()) return MatchesPattern(name, hosts) ? Role::kHost : Role::kSwitch;
  for (const char* host : {"host", "server", "compute"}) {
    if (device.function == host) return Role::kHost;
  }
  if (!device.function.empty()) return Role::kSwitch;
  if (begins(device.os, "cumulus") || begins(device.os, "CumulusCommunity") ||
      begins(device.os, "sonic")) {
    return Role::kSwitch;
  }
  return device.os.empty() ? Role::kUnknown : Role::kHost;
}

}  // namespace

Result<Inventory> ParseAirTopology(const std::string& text, const std::string& path,
                                   const std::string& hosts) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  ASSIGN_OR_RETURN(const AirFile file,
                   is_json ? ReadJson(text, path) : DotReader(text, path).Read());
  Inventory out;
  std::map<std::string, Role> roles;
  std::vector<std::string> management, unknown;
  for (const auto& [name, device] : file.devices) {
    const Role role = RoleOf(name, device, hosts);
    roles[name] = role;
    if (role == Role::kHost) out.hosts.push_back(name);
    if (role == Role::kSwitch) out.switches.push_back(name);
    if (role == Role::kManagement) management.push_back(name);
    if (role == Role::kUnknown) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    return Error(fmt::format("the file does not say whether '{}' is a host or a switch; say it "
                             "with --hosts PATTERN",
                             Printable(unknown.front())),
                 {path, 0, 0});
  }
  std::sort(out.hosts.begin(), out.hosts.end(), NameLess);
  std::sort(out.switches.begin(), out.switches.end(), NameLess);
  size_t left_out = 0;
  for (const auto& [a, b] : file.links) {
    if (roles[a.device] == Role::kManagement || roles[b.device] == Role::kManagement) {
      ++left_out;
      continue;
    }
    Cable cable;
    cable.a = a;
    cable.b = b;
    out.cables.push_back(cable);
  }
  if (!management.empty()) {
    out.notes.push_back(fmt::format("left out: the management network ({}), {}", Join(management),
                                    Plural(left_out, "cable")));
  }
  if (file.outside > 0) {
    out.notes.push_back(
        fmt::format("left out: {} without a second device", Plural(file.outside, "link")));
  }
  return out;
}

}  // namespace drydock
