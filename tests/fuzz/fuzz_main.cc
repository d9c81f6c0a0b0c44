// One libFuzzer executable per target (docs: tests/fuzz/README.md). DRYDOCK_FUZZ_TARGET names it.
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "core/base/check.h"
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const drydock::fuzz::Target* const target = drydock::fuzz::FindTarget(DRYDOCK_FUZZ_TARGET);
  CHECK(target != nullptr);
  target->run(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

// Writes the seeds into the corpus folder, which is the first argument that names a folder, before
// libFuzzer reads it.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    if (!std::filesystem::is_directory((*argv)[i])) continue;
    int number = 0;
    for (const std::string& seed : drydock::fuzz::FindTarget(DRYDOCK_FUZZ_TARGET)->seeds()) {
      std::ofstream((*argv)[i] + ("/seed-" + std::to_string(number++)), std::ios::binary) << seed;
    }
    break;
  }
  return 0;
}
