// Bounds that several sections of cluster.topo and of GPU files share.
#ifndef DRYDOCK_CORE_SCHEMA_FABRIC_LIMITS_H_
#define DRYDOCK_CORE_SCHEMA_FABRIC_LIMITS_H_

#include <fmt/format.h>

#include <string>

#include "core/base/yaml.h"

namespace drydock {

// Slower links cause times above 106 days, the range of Time.
inline constexpr Bandwidth kMinRate = Bandwidth::BitsPerSecond(1000000);

// Of a switch, a NIC or a link inside a host; equal to the delay of the longest cable.
inline constexpr Time kMaxLatency = Time::Us(1000000);

// Each reports a value out of bounds under `key`, and nothing if `key` is absent.
inline void CheckRate(const std::string& key, Bandwidth rate, YamlReader* reader) {
  if (!reader->Has(key) || rate >= kMinRate) return;
  reader->Fail(key, fmt::format("'{}' is {}; it must be at least 1 Mbps", key, ToString(rate)));
}

inline void CheckLatency(const std::string& key, Time latency, YamlReader* reader) {
  if (!reader->Has(key) || latency <= kMaxLatency) return;
  reader->Fail(key, fmt::format("'{}' is {}; it must be at most 1 s", key, ToString(latency)));
}

inline void CheckSize(const std::string& key, Bytes size, YamlReader* reader) {
  if (!reader->Has(key) || size > Bytes()) return;
  reader->Fail(key, fmt::format("'{}' is 0 B; it must be above 0 B", key));
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FABRIC_LIMITS_H_
