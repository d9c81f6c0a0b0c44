// The options that a user gives by name: networks, threads, folds, partitionings.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_CHOICES_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_CHOICES_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "exec-engine/folding/fold.h"
#include "exec-engine/replay/network_model.h"

namespace drydock {

// The name of the network that is picked by the number of packets (network_pick.h).
inline constexpr char kAutoNetwork[] = "auto";

// Returns the network of this name, or null for kAutoNetwork. An unknown name is an error that
// lists the choices, the most similar first.
Result<const NetworkModel*> FindNetwork(const std::string& name);
// Returns the text of --network help, one line for each choice.
std::string NetworksText();

// Returns the settings of the cluster file that differ from their defaults and have no effect in
// this network: "transport.flow_control pfc".
std::vector<std::string> UnusedSettings(const NetworkModel& network, const Topology& topology);

// "auto" divides the idle cores among the processes.
Result<int> ParseThreads(const std::string& text, int processes = 1);

// An unknown name is an error that lists the choices.
Result<Fold> FindFold(const std::string& name);
// Returns an error if the name is unknown or `network`, from FindNetwork, does not support the
// fold.
Status CheckFold(const std::string& name, const NetworkModel* network);

// An unknown name is an error that lists the choices.
Status CheckPartitioning(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_CHOICES_H_
