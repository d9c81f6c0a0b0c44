// SimAI.conf, the settings of SimAI's network, as values of a cluster file. Internal to
// core/schema/cluster.
//
// A line is a key and its values. The settings AS_..., which SimAI takes from its environment, may
// stand in such a file too: "AS_NVLS_ENABLE 1", "AS_NVLS_ENABLE=1" or "export AS_NVLS_ENABLE=1".
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_SIMAI_CONF_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_SIMAI_CONF_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

// What the meaning of a setting depends on: the fabric of a topology file.
struct SimaiFabric {
  Bandwidth nic;             // the first cable of GPU 0 that leaves its server
  std::set<int64_t> rates;   // of all cables outside servers, in bits per second
  Time delay;                // of the longest path from GPU 0 to another, one way
  double inverse_rates = 0;  // sum over the links of that path of seconds per bit
  int64_t gpus = 0, gpus_per_server = 0, first_switch = 0;  // ids
};

struct SimaiConf {
  // Keys of a cluster file and their values, as --set takes them.
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<std::string> differences;  // keys that Drydock reads in another way, and how
  std::vector<std::string> ignored;      // keys that decide no speed
};

struct SimaiConfText {
  std::string text, path;
};

// Reads one file of settings or several that complete each other. Keys that they lack have SimAI's
// defaults. Errors: an unknown key, a value out of its range, and a value that decides a speed and
// that Drydock has no model of.
Result<SimaiConf> ParseSimaiConf(const std::vector<SimaiConfText>& files,
                                 const SimaiFabric& fabric);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_SIMAI_CONF_H_
