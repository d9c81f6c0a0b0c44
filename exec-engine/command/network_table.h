// The table of networks: selection by name, --network help, and "valid values are ..." come from
// it. This table alone knows all networks.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_TABLE_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_TABLE_H_

#include <string>
#include <vector>

#include "exec-engine/replay/network_model.h"

namespace drydock {

struct NetworkChoice {
  NetworkModel model;
  std::string summary;  // one line for --network help
};

const std::vector<NetworkChoice>& NetworkChoices();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_TABLE_H_
