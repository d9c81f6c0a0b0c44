#include "simccl/hacknccl/machine/fake_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace drydock {
namespace {

// Smaller blocks come from calloc, larger ones are mapped: a process may have few mappings.
constexpr size_t kMappedFrom = 64 << 10;

std::mutex mutex;
std::unordered_map<void*, size_t> blocks;
int64_t in_use = 0;
size_t exhaustion = 0;

}  // namespace

void* AllocateFake(size_t bytes) {
  if (bytes == 0) bytes = 1;
  void* address = nullptr;
  if (bytes < kMappedFrom) {
    address = calloc(1, bytes);
  } else {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) address = nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  if (address == nullptr) {
    exhaustion = bytes;
    return nullptr;
  }
  blocks[address] = bytes;
  in_use += static_cast<int64_t>(bytes);
  return address;
}

size_t TakeExhaustion() {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(exhaustion, 0);
}

void FreeFake(void* address) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = blocks.find(address);
  if (found == blocks.end()) return;
  const size_t bytes = found->second;
  blocks.erase(found);
  in_use -= static_cast<int64_t>(bytes);
  if (bytes < kMappedFrom) {
    free(address);
  } else {
    munmap(address, bytes);
  }
}

int64_t FakeMemoryInUse() {
  const std::lock_guard<std::mutex> lock(mutex);
  return in_use;
}

}  // namespace drydock
