// Fabrics whose switches and links the section lists.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"
#include "core/schema/fabric/fabric_builder.h"
#include "core/schema/fabric/generators.h"
#include "core/schema/fabric/limits.h"
#include "core/schema/fabric/link_end.h"

namespace drydock {
namespace {

using Names = std::vector<std::string>;  // of the switches, in order

void ReadExplicitLink(FabricContext* context, const YamlNode& item, const Names& switches) {
  YamlReader reader(item, "link", context->diagnostics);
  FabricLink link;
  const YamlNode* from = reader.Take("from", true);
  const YamlNode* to = reader.Take("to", true);
  reader.Read("rate", &link.rate);
  CheckRate("rate", link.rate, &reader);
  reader.Read("delay", &link.delay);
  if (reader.Has("delay") && (link.delay == Time() || link.delay > Time::Us(1000000))) {
    reader.Fail("delay", fmt::format("'delay' is {}; it must be between 1 ps and 1 s",
                                     ToString(link.delay)));
  }
  reader.Finish();
  if (from == nullptr || to == nullptr) return;
  for (const auto& [node, end] : {std::pair(from, &link.a), std::pair(to, &link.b)}) {
    const Result<LinkEnd> parsed = ParseLinkEnd(*node, *context->topology, switches);
    if (!parsed.ok()) return context->diagnostics->Add(parsed.error());
    *end = *parsed;
  }
  if (link.a.is_switch && link.b.is_switch && link.a.index == link.b.index) {
    return reader.Fail("to", fmt::format("'{}' is joined to itself", to->scalar));
  }
  context->topology->fabric.links.push_back(link);
}

void ReadExplicitSwitch(FabricContext* context, const YamlNode& item, Names* switches) {
  YamlReader reader(item, "switch", context->diagnostics);
  FabricSwitch made;
  reader.Read("name", &made.name);
  reader.Read("latency", &made.latency);
  CheckLatency("latency", made.latency, &reader);
  reader.Read("buffer", &made.buffer);
  reader.ReadOptional("tier", &made.tier);
  reader.CheckRange("tier", made.tier, 0, kMaxTier);
  reader.Finish();
  int host = 0, nic = 0;
  if (made.name.empty() || ScanNumbers(made.name, {"host", "/nic"}, {&host, &nic})) {
    reader.Fail("name", fmt::format("a switch cannot be called '{}'", made.name));
  } else if (std::find(switches->begin(), switches->end(), made.name) != switches->end()) {
    reader.Fail("name", fmt::format("there is another switch '{}'", made.name));
  }
  switches->push_back(made.name);
  context->topology->fabric.switches.push_back(made);
}

// Returns the items of a required list.
const std::vector<YamlNode>& ReadList(FabricContext* context, const std::string& key) {
  static const std::vector<YamlNode> kNone;
  const YamlNode* list = context->reader->Take(key, true);
  if (list == nullptr) return kNone;
  if (list->kind != YamlNode::Kind::kList) {
    context->reader->Fail(key, fmt::format("'{}' must be a list", key));
  }
  return list->items;
}

}  // namespace

void MakeExplicit(FabricContext* context) {
  Names switches;
  for (const YamlNode& item : ReadList(context, "switches")) {
    ReadExplicitSwitch(context, item, &switches);
  }
  for (const YamlNode& item : ReadList(context, "links")) ReadExplicitLink(context, item, switches);
}

}  // namespace drydock
