// What people give workload-gen: model.yaml, config.json, launch scripts and what
// they name.
#ifndef DRYDOCK_TESTS_FUZZ_MODEL_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_MODEL_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// What is read is counted, laid out on a small cluster, and printed as a model.yaml that says the
// same.
void Model(const std::string& input);
std::vector<std::string> ModelSeeds();

void HfConfig(const std::string& input);
std::vector<std::string> HfConfigSeeds();

void OverlapConfig(const std::string& input);
std::vector<std::string> OverlapConfigSeeds();

void MegatronArguments(const std::string& input);
std::vector<std::string> MegatronArgumentsSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_MODEL_TARGET_H_
