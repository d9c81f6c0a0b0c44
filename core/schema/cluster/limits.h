// Bounds that several sections of cluster.topo and of GPU files share. Internal to core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_LIMITS_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_LIMITS_H_

#include <fmt/format.h>

#include <string>

#include "core/base/yaml.h"

namespace drydock {

// Slower links would make times that do not fit in 106 days of picoseconds.
inline constexpr Bandwidth kLeastRate = Bandwidth::BitsPerSecond(1000000);

// Of a switch, a NIC, a link inside a host: as long as the longest cable.
inline constexpr Time kLongestLatency = Time::Us(1000000);

// Reports a rate below that; says nothing if `key` is absent.
inline void CheckRate(const std::string& key, Bandwidth rate, YamlReader* reader) {
  if (!reader->Has(key) || rate >= kLeastRate) return;
  reader->Fail(key, fmt::format("'{}' is {}; it must be at least 1 Mbps", key, ToString(rate)));
}

inline void CheckLatency(const std::string& key, Time latency, YamlReader* reader) {
  if (!reader->Has(key) || latency <= kLongestLatency) return;
  reader->Fail(key, fmt::format("'{}' is {}; it must be at most 1 s", key, ToString(latency)));
}

inline void CheckSize(const std::string& key, Bytes size, YamlReader* reader) {
  if (!reader->Has(key) || size > Bytes()) return;
  reader->Fail(key, fmt::format("'{}' is 0 B; it must be more", key));
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_LIMITS_H_
