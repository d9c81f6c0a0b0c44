// What people give compute-sim: measured rows, GPU files and lists of submodules.
#ifndef DRYDOCK_TESTS_FUZZ_COMPUTE_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_COMPUTE_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// Reads the rows and asks for kernels at, beside and between them.
void Profile(const std::string& input);
std::vector<std::string> ProfileSeeds();

// Reads a GPU's file with its kernel models and asks them.
void GpuKernels(const std::string& input);
std::vector<std::string> GpuKernelsSeeds();

// Reads the list and asks for the time of every kernel.
void Submodules(const std::string& input);
std::vector<std::string> SubmodulesSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_COMPUTE_TARGET_H_
