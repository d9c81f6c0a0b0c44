// Fuzz targets for profiles of other tools and for the file of an interrupted gpu-profiler run.
#ifndef DRYDOCK_TESTS_FUZZ_IMPORT_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_IMPORT_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// The first byte selects the tool that the rest comes from. The rows are written as a profile and
// read back.
void Import(const std::string& input);
std::vector<std::string> ImportSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_IMPORT_TARGET_H_
