// ASTRA-sim's network yml and system json.
#ifndef DRYDOCK_TESTS_FUZZ_ASTRA_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_ASTRA_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// What is read carries a message from each of a few NPUs to each other.
void AstraNetwork(const std::string& input);
std::vector<std::string> AstraNetworkSeeds();

// What is read runs each collective, on eight NPUs.
void AstraSystem(const std::string& input);
std::vector<std::string> AstraSystemSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_ASTRA_TARGET_H_
