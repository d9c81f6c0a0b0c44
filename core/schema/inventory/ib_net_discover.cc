// ibnetdiscover: a block for each node, with a line for each port that has a cable.
//
//   Switch  41 "S-b83fd2030"     # "MF0;leaf1:MQM9700/U1" enhanced port 0 lid 1 lmc 0
//   [1]     "H-b8cef6030"[1](b8cef6030)    # "dgx01 mlx5_0" lid 10 4xNDR
//
//   Ca      1 "H-b8cef6030"      # "dgx01 mlx5_0"
//   [1](b8cef6030)  "S-b83fd2030"[1]       # lid 10 lmc 0 "MF0;leaf1:MQM9700/U1" lid 1 4xNDR
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/schema/inventory/inventory.h"

namespace drydock {
namespace {

constexpr size_t kMaxCables = 4'000'000;

// Gb/s of a lane, as the names of the generations have them (InfiniBand Architecture, 1.6: signal
// rates without the encoding of SDR to QDR, which carries 8 bits in 10).
const std::map<std::string_view, double>& LaneRates() {
  static const std::map<std::string_view, double> rates = {
      {"SDR", 2},  {"DDR", 4},  {"QDR", 8},   {"FDR10", 10}, {"FDR", 13.64},
      {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
  return rates;
}

struct Node {
  char kind = 'S';  // S switch, H adapter, R router
  std::string name;
};

// Returns the text between the first two quotes from `from` on, and moves `from` behind them.
bool Quoted(const std::string& line, size_t* from, std::string* text) {
  const size_t open = line.find('"', *from);
  if (open == line.npos) return false;
  const size_t close = line.find('"', open + 1);
  if (close == line.npos) return false;
  *text = line.substr(open + 1, close - open - 1);
  *from = close + 1;
  return true;
}

bool Number(const std::string& line, size_t* at, char close, std::string* text) {
  const size_t end = line.find(close, *at);
  if (end == line.npos || end == *at || end - *at > 6) return false;
  *text = line.substr(*at, end - *at);
  *at = end + 1;
  return std::all_of(text->begin(), text->end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "4xNDR" at the end of a line.
Bandwidth RateOf(const std::string& line) {
  const size_t blank = line.find_last_of(" \t");
  const std::string word = line.substr(blank == line.npos ? 0 : blank + 1);
  const size_t x = word.find('x');
  if (x == word.npos || x == 0 || x > 2) return {};
  const auto rate = LaneRates().find(std::string_view(word).substr(x + 1));
  int lanes = 0;
  for (const char c : word.substr(0, x)) {
    if (c < '0' || c > '9') return {};
    lanes = 10 * lanes + (c - '0');
  }
  if (rate == LaneRates().end() || lanes == 0) return {};
  return Bandwidth::BitsPerSecond(static_cast<int64_t>(rate->second * 1e9) * lanes);
}

// "MF0;leaf1:MQM9700/U1" is the switch leaf1; other descriptions are names.
std::string SwitchName(const std::string& description) {
  const size_t semicolon = description.find(';');
  if (semicolon == description.npos) return description;
  const size_t colon = description.find(':', semicolon);
  return description.substr(semicolon + 1,
                            colon == description.npos ? colon : colon - semicolon - 1);
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& path) : lines_(text), path_(path) {}

  Result<Inventory> Read() {
    std::string line;
    while (std::getline(lines_, line)) {
      ++number_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      RETURN_IF_ERROR(ReadLine(line));
    }
    if (nodes_.empty()) {
      number_ = 0;
      return Fail("there is no Switch and no Ca: this is not the output of ibnetdiscover");
    }
    return Finish();
  }

 private:
  struct Port {
    std::string node, port;
    bool operator<(const Port& other) const {
      return std::tie(node, port) < std::tie(other.node, other.port);
    }
  };

  Error Fail(const std::string& what) const { return Error(what, {path_, number_, 0}); }

  Status ReadLine(const std::string& line) {
    for (const auto& [word, kind] : {std::pair("Switch", 'S'), {"Ca", 'H'}, {"Rt", 'R'}}) {
      if (line.starts_with(std::string(word) + "\t") || line.starts_with(std::string(word) + " ")) {
        return ReadNode(line, kind);
      }
    }
    if (line.starts_with("[")) return ReadCable(line);
    return OkStatus();
  }

  Status ReadNode(const std::string& line, char kind) {
    size_t at = 0;
    std::string id, name;
    if (!Quoted(line, &at, &id)) return Fail("expected the id of the node in quotes");
    if (!Quoted(line, &at, &name) || name.empty()) name = id;
    if (!nodes_.emplace(id, Node{kind, name}).second) {
      return Fail(fmt::format("the node \"{}\" occurs twice", id));
    }
    node_ = id;
    return OkStatus();
  }

  Status ReadCable(const std::string& line) {
    if (node_.empty()) return Fail("a port before the first node");
    size_t at = 1;
    Port from{node_, ""}, to;
    if (!Number(line, &at, ']', &from.port)) return Fail("expected the number of a port");
    if (!Quoted(line, &at, &to.node)) return Fail("expected the id of the other node in quotes");
    if (at >= line.size() || line[at] != '[' || !Number(line, &++at, ']', &to.port)) {
      return Fail("expected the number of the other port");
    }
    if (!(to < from)) std::swap(from, to);
    if (cables_.size() > kMaxCables) return Fail("there are too many cables");
    cables_.emplace(std::pair(from, to), RateOf(line));
    return OkStatus();
  }

  // A host's NIC is the adapter, and its port if it has several.
  Result<Inventory> Finish() {
    number_ = 0;
    Inventory out;
    std::set<std::string> hosts, switches;
    std::map<std::string, std::string> ids;  // of switches, by name
    size_t left_out = 0;
    for (const auto& [id, node] : nodes_) {
      if (node.kind != 'S') continue;
      const std::string name = SwitchName(node.name);
      if (!switches.insert(name).second) {
        return Fail(
            fmt::format("two switches are called '{}' ({} and {}); give them node "
                        "descriptions that differ",
                        name, ids[name], id));
      }
      ids[name] = id;
    }
    for (const auto& [ports, rate] : cables_) {
      Cable cable;
      cable.rate = rate;
      bool counts = true;
      for (const auto& [port, end] :
           {std::pair(&ports.first, &cable.a), {&ports.second, &cable.b}}) {
        const auto found = nodes_.find(port->node);
        if (found == nodes_.end()) {
          return Fail(fmt::format("there is no node \"{}\", but a cable leads to it", port->node));
        }
        const Node& node = found->second;
        if (node.kind == 'S') {
          *end = {SwitchName(node.name), port->port};
          continue;
        }
        const size_t blank = node.name.find(' ');
        counts &= node.kind == 'H' && node.name.find("Aggregation Node") == node.name.npos;
        *end = {node.name.substr(0, blank), blank == node.name.npos
                                                ? port->port
                                                : node.name.substr(blank + 1) + "/" + port->port};
        if (counts) hosts.insert(end->device);
      }
      if (counts) {
        out.cables.push_back(std::move(cable));
      } else {
        ++left_out;
      }
    }
    out.hosts.assign(hosts.begin(), hosts.end());
    out.switches.assign(switches.begin(), switches.end());
    std::sort(out.hosts.begin(), out.hosts.end(), NameLess);
    std::sort(out.switches.begin(), out.switches.end(), NameLess);
    if (left_out > 0) {
      out.notes.push_back(fmt::format(
          "{} cables to aggregation nodes of switches and to routers are left out", left_out));
    }
    return out;
  }

  std::istringstream lines_;
  const std::string& path_;
  int number_ = 0;
  std::map<std::string, Node> nodes_;
  std::string node_;
  std::map<std::pair<Port, Port>, Bandwidth> cables_;
};

}  // namespace

Result<Inventory> ParseIbNetDiscover(const std::string& text, const std::string& path) {
  return Reader(text, path).Read();
}

}  // namespace drydock
