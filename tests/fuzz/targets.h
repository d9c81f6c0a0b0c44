// What hostile bytes are given to. Each target reads them as one kind of input; whatever it makes
// of them, it must neither crash nor hang. Shared by the libFuzzer executables (fuzz_main.cc) and
// the corpus test, which needs no fuzzer.
#ifndef DRYDOCK_TESTS_FUZZ_TARGETS_H_
#define DRYDOCK_TESTS_FUZZ_TARGETS_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

struct Target {
  const char* name;
  void (*run)(const std::string& input);
  std::vector<std::string> (*seeds)();  // inputs that are right
  int rounds;  // mutations that the corpus test tries, about a second of them
};

const std::vector<Target>& Targets();
// Null if there is none of that name.
const Target* FindTarget(const std::string& name);

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_TARGETS_H_
