#include "core/schema/cluster/transport_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/model/fabric/transport_attributes.h"
#include "core/schema/cluster/cluster_limits.h"
#include "core/schema/cluster/read_enum.h"

namespace drydock {
namespace {

void ReadBytes(const char* key, int64_t low, int64_t high, YamlReader* reader, Bytes* bytes) {
  reader->ReadOptional(key, bytes);
  reader->CheckRange(key, bytes->count(), low, high);
}

// Adds the attribute to `settings` if its name and its value are valid.
void ReadAttribute(const YamlNode& key, const YamlNode& value, TransportSettings* settings,
                   Diagnostics* diagnostics) {
  if (const Status known = CheckTransportAttributeName(key.scalar); !known.ok()) {
    return diagnostics->Add(key.ErrorHere(known.error().message()));
  }
  const Result<std::string> text = AsString(value);
  if (!text.ok()) return diagnostics->Add(text.error());
  const auto parsed = ParseTransportValue(*FindTransportAttribute(key.scalar), *text);
  if (!parsed.ok()) return diagnostics->Add(value.ErrorHere(parsed.error().message()));
  settings->emplace_back(key.scalar, *text);
}

void ReadAttributes(YamlReader* reader, TransportSettings* settings, Diagnostics* diagnostics) {
  const YamlNode* attributes = reader->Take("attributes", false);
  if (attributes == nullptr) return;
  if (attributes->kind != YamlNode::Kind::kMap) {
    return reader->Fail("attributes", "'attributes' must be a section of Class::Name: value");
  }
  for (const auto& [key, value] : attributes->entries) {
    ReadAttribute(key, value, settings, diagnostics);
  }
  std::sort(settings->begin(), settings->end());
  if (const Status valid = CheckTransportAttributes(*settings); !valid.ok()) {
    reader->Fail("attributes", valid.error().message());
  }
}

}  // namespace

void ReadTransport(const YamlNode& node, Transport* transport, Diagnostics* diagnostics) {
  YamlReader reader(node, "transport", diagnostics);
  ReadEnum("kind", TransportKindNames(), &reader, &transport->kind);
  ReadBytes("mtu", kMinMtu, kMaxMtu, &reader, &transport->mtu);
  ReadBytes("header", 1, kMaxFrameOverhead, &reader, &transport->header);
  ReadBytes("ack", 1, kMaxFrameOverhead, &reader, &transport->ack);
  reader.ReadOptional("packets_per_ack", &transport->packets_per_ack);
  reader.CheckRange("packets_per_ack", transport->packets_per_ack, 1, kMaxPacketsPerAck);
  ReadEnum("congestion_control", CongestionControlNames(), &reader, &transport->congestion_control);
  ReadEnum("flow_control", FlowControlNames(), &reader, &transport->flow_control);
  ReadEnum("retransmission", RetransmissionNames(), &reader, &transport->retransmission);
  ReadAttributes(&reader, &transport->attributes, diagnostics);
  reader.Finish();
}

}  // namespace drydock
