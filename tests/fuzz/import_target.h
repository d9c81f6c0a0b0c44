// Other tools' files, and what gpu-profiler finds of an earlier run.
#ifndef DRYDOCK_TESTS_FUZZ_IMPORT_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_IMPORT_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// The first byte says whose file the rest is. What is read is written as a profile and read back.
void Import(const std::string& input);
std::vector<std::string> ImportSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_IMPORT_TARGET_H_
