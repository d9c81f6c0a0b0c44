// What an inventory of a real fabric lists: devices and the cables between their ports.
#ifndef DRYDOCK_CORE_SCHEMA_INVENTORY_INVENTORY_H_
#define DRYDOCK_CORE_SCHEMA_INVENTORY_INVENTORY_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct CableEnd {
  std::string device;  // the name of a host or a switch
  std::string port;    // of a host: its NIC, such as "mlx5_3"
  bool operator==(const CableEnd&) const = default;
};
struct Cable {
  CableEnd a, b;
  Bandwidth rate;      // 0: not stated
  double metres = -1;  // negative: not stated
};
struct Inventory {
  std::vector<std::string> hosts;     // in the order of their names, numbers by value
  std::vector<std::string> switches;  // in the same order
  std::vector<Cable> cables;          // each once
  std::vector<std::string> notes;     // what the reader left out
};

// Reads what ibnetdiscover prints, which ibdiagnet writes as ibdiagnet2.ibnetdiscover. A channel
// adapter is a NIC of the host that its description names ("dgx01 mlx5_0"). Leaves out adapters of
// switches (SHARP's aggregation nodes) and routers.
Result<Inventory> ParseIbNetDiscover(const std::string& text, const std::string& path);

// Reads a table of cables (CSV with a header), as NetBox exports it or a person writes it: a device
// and a port for each end, and optionally speed, length and its unit. Devices whose name matches
// `hosts`, in which * stands for any text, are hosts; all others are switches.
Result<Inventory> ParseCableTable(const std::string& text, const std::string& path,
                                  const std::string& hosts);

// Reads a topology of NVIDIA Air, as DOT or JSON. Hosts are the devices that match `hosts`, or, if
// it is empty, those whose function or operating system says so. Leaves out the management network.
// Cables have no rates.
Result<Inventory> ParseAirTopology(const std::string& text, const std::string& path,
                                   const std::string& hosts);

// Returns true if `name` matches; * stands for any text.
bool MatchesPattern(const std::string& name, const std::string& pattern);

// Orders names with numbers by value: "leaf2" before "leaf10".
bool NameLess(const std::string& a, const std::string& b);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_INVENTORY_INVENTORY_H_
