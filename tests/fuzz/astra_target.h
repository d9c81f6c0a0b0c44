// ASTRA-sim's network yml and system json.
#ifndef DRYDOCK_TESTS_FUZZ_ASTRA_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_ASTRA_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// Reads a network and sends a message from each of a few NPUs to each other NPU over it.
void AstraNetwork(const std::string& input);
std::vector<std::string> AstraNetworkSeeds();

// Reads a system and runs each collective with it on eight NPUs.
void AstraSystem(const std::string& input);
std::vector<std::string> AstraSystemSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_ASTRA_TARGET_H_
