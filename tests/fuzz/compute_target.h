// Fuzz targets for compute-sim's inputs: measured rows, GPU files and lists of submodules.
#ifndef DRYDOCK_TESTS_FUZZ_COMPUTE_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_COMPUTE_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// Reads measured rows and predicts kernels of sizes at, beside and between these rows.
void Profile(const std::string& input);
std::vector<std::string> ProfileSeeds();

// Reads a GPU file and predicts kernels with its kernel models.
void GpuKernels(const std::string& input);
std::vector<std::string> GpuKernelsSeeds();

// Reads a list of submodules and predicts the time of every kernel.
void Submodules(const std::string& input);
std::vector<std::string> SubmodulesSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_COMPUTE_TARGET_H_
