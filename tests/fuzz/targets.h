// The fuzz targets. Each target reads hostile bytes as one kind of input and must neither crash nor
// hang. The libFuzzer executables (fuzz_main.cc) and the corpus test, which needs no fuzzer, share
// them.
#ifndef DRYDOCK_TESTS_FUZZ_TARGETS_H_
#define DRYDOCK_TESTS_FUZZ_TARGETS_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

struct Target {
  const char* name;
  void (*run)(const std::string& input);
  std::vector<std::string> (*seeds)();  // valid inputs
  int rounds;  // mutations that the corpus test tries, about a second of them
};

const std::vector<Target>& Targets();
// Returns null if no target has that name.
const Target* FindTarget(const std::string& name);

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_TARGETS_H_
