// What a cluster costs and draws, and where checkpoints go, as the cluster file states it. Nothing
// here has a default: a price that is not stated is unknown. Plain data.
#ifndef DRYDOCK_CORE_MODEL_COST_H_
#define DRYDOCK_CORE_MODEL_COST_H_

#include <optional>
#include <string>

#include "core/base/units.h"

namespace drydock {

struct StatedValue {
  double value = 0;
  std::string source;
  bool operator==(const StatedValue&) const = default;
};

// Amounts are in one currency.
struct Cost {
  // Prices of parts, spread evenly over the years.
  struct Capital {
    StatedValue host;                          // with its GPUs and NICs
    std::optional<StatedValue> fabric_switch;  // absent without switches
    std::optional<StatedValue> optics;         // of one end of a cable; absent without cables
    StatedValue years;
    bool operator==(const Capital&) const = default;
  };
  // Watts that a part draws on average while it trains.
  struct Power {
    StatedValue gpu;
    StatedValue host;                          // without its GPUs
    std::optional<StatedValue> fabric_switch;  // absent without switches
    std::optional<StatedValue> optics;         // of one end of a cable; absent without cables
    StatedValue pue;                           // power at the meter over power of the parts
    bool operator==(const Power&) const = default;
  };
  std::string currency;                            // "USD"; empty if no amount is stated
  std::optional<StatedValue> gpu_hour, host_hour;  // rent; at most one
  std::optional<Capital> capital;                  // in place of rent
  std::optional<Power> power;
  std::optional<StatedValue> electricity;  // of a kWh, in addition; only with `power`
  bool operator==(const Cost&) const = default;
};

// The storage that checkpoints are written to and read from.
struct Storage {
  Bandwidth read, write;  // of the whole storage
  Bandwidth host;         // of one host, each direction; 0: no limit of its own
  std::string source;
  bool operator==(const Storage&) const = default;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_COST_H_
