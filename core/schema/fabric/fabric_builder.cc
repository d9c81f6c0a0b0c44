#include "core/schema/fabric/fabric_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/schema/fabric/limits.h"

namespace drydock {
namespace {

// Returns the delay of a cable of this length, in picoseconds.
double DelayPs(const FabricContext& context, double metres) {
  return metres * static_cast<double>(context.per_metre.ps());
}

// Reads the metres under `key`. Returns zero, and reports, if the delay is out of range.
double ReadMetres(const FabricContext& context, const std::string& key, YamlReader* reader) {
  std::string cable;
  reader->Read(key, &cable);
  if (cable.empty()) return 0;
  const Result<double> metres = ParseMeters(cable);
  if (!metres.ok()) {
    reader->Fail(key, metres.error().message());
    return 0;
  }
  const double delay = DelayPs(context, *metres);
  if (delay >= 1 && delay <= 1e12) return *metres;
  reader->Fail(key, fmt::format("a signal takes {:.3g} s over '{}'; it must take between 1 ps and "
                                "1 s",
                                delay * 1e-12, cable));
  return 0;
}

}  // namespace

Time CableDelay(const FabricContext& context, const Layer& layer) {
  return Time::Ps(std::llround(DelayPs(context, layer.cable_metres)));
}

Time ReadCable(const FabricContext& context, const std::string& key, YamlReader* reader) {
  return Time::Ps(std::llround(DelayPs(context, ReadMetres(context, key, reader))));
}

bool ReadLayer(FabricContext* context, const std::string& key, LayerRole role, Layer* layer) {
  const YamlNode* node = context->reader->Take(key, role == LayerRole::kBottom);
  if (node == nullptr) return false;
  YamlReader reader(*node, key, context->diagnostics);
  reader.Read("ports", &layer->ports);
  reader.CheckRange("ports", layer->ports, 1, 4096);
  reader.Read("rate", &layer->rate);
  CheckRate("rate", layer->rate, &reader);
  layer->cable_metres = ReadMetres(*context, "cable", &reader);
  reader.Read("latency", &layer->latency);
  CheckLatency("latency", layer->latency, &reader);
  reader.Read("buffer", &layer->buffer);
  if (role == LayerRole::kUpper) reader.ReadOptional("oversubscription", &layer->oversubscription);
  const bool sane = layer->oversubscription >= 0.01 && layer->oversubscription <= 100;
  if (!sane) {
    reader.Fail("oversubscription", fmt::format("'oversubscription' is {}; it must be between 0.01 "
                                                "and 100",
                                                layer->oversubscription));
  }
  reader.Finish();
  return sane && layer->ports >= 1 && layer->ports <= 4096 && layer->rate >= kMinRate;
}

int AddSwitch(FabricContext* context, std::string name, int tier, const Layer& layer) {
  Fabric& fabric = context->topology->fabric;
  fabric.switches.push_back({std::move(name), tier, layer.latency, layer.buffer});
  return static_cast<int>(fabric.switches.size()) - 1;
}

void ConnectNic(FabricContext* context, int host, int nic, Bandwidth nic_rate, int leaf,
                const Layer& layer) {
  context->topology->fabric.links.push_back({{false, host, nic},
                                             {true, leaf, 0},
                                             std::min(nic_rate, layer.rate),
                                             CableDelay(*context, layer)});
}

void ConnectSwitches(FabricContext* context, int lower, int upper, Bandwidth rate, Time delay) {
  context->topology->fabric.links.push_back({{true, lower, 0}, {true, upper, 0}, rate, delay});
}

int UplinksFor(int down, Bandwidth below, const Layer& layer, const Layer& above) {
  const auto bits = [](Bandwidth rate) { return static_cast<double>(rate.bits_per_second()); };
  const double arriving = down * bits(std::min(below, layer.rate));
  const double cable = bits(std::min(layer.rate, above.rate));
  const double cables = std::ceil(arriving / (cable * above.oversubscription) - 1e-9);
  return static_cast<int>(std::clamp(cables, 1.0, 1e6));
}

void ConnectNics(FabricContext* context, int per_switch, const Layer& layer) {
  int placed = 0;
  for (int host = 0; host < context->topology->host_count(); ++host) {
    const Nics& nics = context->topology->kind_of_host(host).nics;
    for (int nic = 0; nic < nics.count; ++nic, ++placed) {
      ConnectNic(context, host, nic, nics.rate, placed / per_switch, layer);
    }
  }
}

bool PortsSuffice(FabricContext* context, const Layer& layer, int needed, const char* what) {
  if (needed <= layer.ports) return true;
  context->reader->Fail(
      "switch", fmt::format("a switch has {} ports, but {} need {}", layer.ports, what, needed));
  return false;
}

int64_t CountNics(const Topology& topology) {
  int64_t count = 0;
  for (int host = 0; host < topology.host_count(); ++host) {
    count += topology.kind_of_host(host).nics.count;
  }
  return count;
}

}  // namespace drydock
