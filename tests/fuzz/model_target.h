// Fuzz targets for workload-gen's inputs: model.yaml, config.json, launch scripts and the files
// that these scripts name.
#ifndef DRYDOCK_TESTS_FUZZ_MODEL_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_MODEL_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// Counts the parameters of the model, lays it out on a small cluster, and prints it as a model.yaml
// that describes the same model.
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
