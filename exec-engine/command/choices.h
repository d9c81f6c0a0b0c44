// What the executables of this folder let a user choose by name: networks and threads.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_CHOICES_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_CHOICES_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "exec-engine/folding/fold.h"
#include "exec-engine/network/network.h"

namespace drydock {

// What a user may say for a network that is picked by how much it has to carry (network_pick.h).
inline constexpr char kAutoNetwork[] = "auto";

// Null for kAutoNetwork. An error that lists the choices, the nearest first, if there is none of
// that name.
Result<const NetworkChoice*> FindNetwork(const std::string& name);
// One line each.
std::string NetworksText();

// What the cluster file sets, other than to its default, and this network does not look at:
// "transport.flow_control pfc".
std::vector<std::string> UnusedSettings(const NetworkChoice& network, const Topology& topology);

// "auto" is as many threads as cores have nothing else to do, shared by so many processes.
Result<int> ParseThreads(const std::string& text, int processes = 1);

// An error that lists the choices if there is none of that name.
Result<Fold> FindFold(const std::string& name);
// The same, and an error if `network` (FindNetwork's) cannot do what is asked for.
Status CheckFold(const std::string& name, const NetworkChoice* network);

// An error that lists the ways to deal out a network to processes and threads.
Status CheckPartitioning(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_CHOICES_H_
