// Bounds that several sections of cluster.topo and of GPU files share.
#ifndef DRYDOCK_CORE_SCHEMA_FABRIC_LIMITS_H_
#define DRYDOCK_CORE_SCHEMA_FABRIC_LIMITS_H_

#include <fmt/format.h>

#include <string>

#include "core/base/yaml.h"

namespace drydock {

// Slower links cause times above 106 days, the range of Time.
inline constexpr Bandwidth kMinRate = Bandwidth::BitsPerSecond(1000000);

// The longest latency of a switch, a NIC or a link inside a host, and the longest delay of a cable.
inline constexpr Time kMaxLatency = Time::Us(1000000);

inline constexpr int kMaxTier = 16;  // of a switch

// Each function reports a value of `key` that is out of bounds. An absent `key` is not an error.
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
